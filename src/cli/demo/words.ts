/** An outcome in words. Attributes an answer to a plugin only if the outcome does. */
import { CATALOG } from "../../protocol/catalog.ts";
import type { AnyHook } from "../../protocol/catalog.ts";
import type { Call, Outcome } from "../../protocol/outcome.ts";
import { duration } from "../ui/text.ts";
import type { HookStep } from "./step.ts";

export type Tone = "good" | "changed" | "bad" | "quiet";
export interface Words {
  readonly text: string;
  readonly tone: Tone;
}

const STATUS: Record<Call["status"], string> = {
  ok: "answered",
  skipped: "not called: the run had ended",
  failed: "failed",
  timeout: "stopped: out of time",
  cpu: "stopped: out of CPU time",
  memory: "stopped: out of memory",
  crashed: "lost with its sandbox",
  recursion: "stopped: it called itself",
  quarantined: "not called: quarantined",
};

export function decisionWords({ how, hook, outcome }: HookStep): Words {
  if (!outcome || outcome.calls.length === 0)
    return { text: how === "skipped" ? "skipped, no listener" : "pass, no listener", tone: "quiet" };
  if (outcome.decision !== "pass") return { text: `${outcome.decision} (by ${outcome.by})`, tone: "bad" };
  if (CATALOG[hook].kind === "observe") return { text: "delivered; the gateway did not wait", tone: "good" };
  if (outcome.approval) return { text: `pass, approved (${outcome.approval.resolution})`, tone: "good" };
  return outcome.result === undefined ? { text: "pass", tone: "good" } : { text: "pass, with changes", tone: "changed" };
}

export function callWords(call: Call, outcome: Outcome, hook: HookStep["hook"]): Words {
  if (call.status === "skipped") return { text: STATUS.skipped, tone: "quiet" };
  if (call.status !== "ok") return { text: `${STATUS[call.status]} [${call.status}]`, tone: "bad" };
  if (CATALOG[hook].kind === "observe") return { text: "observed", tone: "good" };
  const result = outcome.result as object | undefined;
  if (outcome.approval?.requests.some(({ pluginId }) => pluginId === call.plugin))
    return { text: "asked for the user's approval", tone: "changed" };
  if (outcome.by === call.plugin) return { text: `decided: ${outcome.decision}`, tone: "bad" };
  if (result === undefined) return { text: "no opinion", tone: "quiet" };
  // Results are merged: with several handlers, the outcome does not say which of them answered what.
  const isAlone = outcome.calls.filter(({ status }) => status === "ok").length === 1;
  return isAlone ? { text: `set ${Object.keys(result).join(", ")}`, tone: "changed" } : { text: STATUS.ok, tone: "good" };
}

/** Wall time; and CPU time, where it is another. */
export function callCost({ status, wallMs, cpuMs }: Call): string {
  if (status === "skipped" || status === "quarantined") return "";
  const [wall, cpu] = [duration(wallMs), duration(cpuMs)];
  return cpuMs === 0 || cpu === wall ? wall : `${wall}, ${cpu} cpu`;
}

export type Change = { readonly field: string; readonly before: string | undefined; readonly after: string };

/** The fields that the result replaces in the event, or adds. */
export function changes({ hook, event, outcome }: HookStep): Change[] {
  const { merge, terminal }: Pick<AnyHook, "merge" | "terminal"> = CATALOG[hook];
  const result = (outcome?.result ?? {}) as Record<string, unknown>;
  const told = new Set([terminal?.field, terminal?.reason]);
  return Object.entries(result)
    .filter(([field]) => !told.has(field))
    .map(([field, value]) => {
      const replaces = merge[field]?.chains;
      return { field, before: replaces === undefined ? undefined : asText(event[replaces]), after: asText(value) };
    })
    .filter(({ before, after }) => before !== after);
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
