/** Trusted side: what became of one attempt to deliver an event of a durable hook. The rules are the same for the outbox and for events from the servers of a fleet. */
import type { Call } from "../../protocol/outcome.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { chainOf } from "../causality/recorded-chain.ts";
import { chainOfStored } from "../causality/stored-chain.ts";
import type { Facts, HostEvents } from "../report/events.ts";
import type { DeliveryRow } from "./outbox-tables.ts";

/** One attempt at it. `attempt` counts from 1. */
export type Delivery = Pick<DeliveryRow, "id" | "plugin" | "hook" | "session" | "event" | "context" | "chain" | "made" | "attempt">;

/** "waits": the plugin cannot be called now. "gone": it does not listen any more. */
export type Calls = readonly Call[] | "waits" | "gone";

export type Judged =
  | { readonly kind: "done" }
  | { readonly kind: "gone" }
  /** `waits`: not counted. `fatal`: it took the sandbox or a budget with it. */
  | { readonly kind: "waits" | "failed" | "fatal"; readonly status: string; readonly why: string };

const FATAL: ReadonlySet<Call["status"]> = new Set(["timeout", "cpu", "memory", "crashed"]);

/** `isOpen`: a host that ends fails calls for reasons of its own. */
export function judged(calls: Calls, isOpen: boolean): Judged {
  if (calls === "gone") return { kind: "gone" };
  if (calls === "waits") return { kind: "waits", status: "waits", why: "the plugin does not serve" };
  const bad = worstOf(calls);
  if (!bad) return { kind: "done" };
  const why = bad.error?.message ?? "the plugin does not serve";
  const kind = bad.status === "quarantined" || !isOpen ? "waits" : FATAL.has(bad.status) ? "fatal" : "failed";
  return { kind, status: bad.status, why };
}

/** Given up by age, not by count: an outage of the receiver is not the event's fault. */
export function isTooOld(ageMs: number): boolean {
  return ageMs > LIMITS.outbox.maxAgeMs;
}

/** By age, not by count: attempts that a killed host began say nothing about the receiver. */
export function pauseAfter(ageMs: number): number {
  return Math.min(Math.max(LIMITS.outbox.firstPauseMs, ageMs / 2), LIMITS.outbox.longestPauseMs);
}

export function tellDelivery(
  events: HostEvents,
  delivery: Delivery,
  nowMs: number,
  status: Facts["delivery"]["status"],
  why?: string,
): void {
  if (!events.wants("delivery")) return;
  const { plugin, hook, id, attempt, chain, made } = delivery;
  // Without one, the gateway emitted it.
  const cause = chain === null ? undefined : chainOf(chainOfStored(chain, made, nowMs, id));
  events.within(cause, () => events.publish("delivery", { plugin, hook, id, attempt, status, ...(why !== undefined && { why }) }));
}

/** Not delivered: no handler has run, and none waits for it any more. */
export const GONE = "the plugin does not listen to this hook any more";

/** A plugin may listen twice, by a hook and by its family: the event counts as delivered when both handlers are done. */
function worstOf(calls: readonly Call[]): Call | undefined {
  const bad = calls.filter(({ status }) => status !== "ok" && status !== "skipped" && status !== "recursion");
  return bad.find(({ status }) => FATAL.has(status)) ?? bad.find(({ status }) => status === "failed") ?? bad[0];
}
