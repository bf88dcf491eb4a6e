/**
 * Trusted side: one agent turn with its three hooks around it. `beforeTurn` may skip the turn; `afterTurn` and `onTurnError` learn how it
 * ended, and the turn does not wait for them. No hook can fail the turn: the host logs errors of handlers, and only the turn's own error
 * reaches the caller.
 */
import type * as z from "zod";
import type { Catalog, EventOf } from "../protocol/catalog.ts";
import type { tokenUsage } from "../protocol/hooks/fields.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Outcome } from "../protocol/outcome.ts";
import { BoundedMap, REMEMBERED_SESSIONS } from "./bounded-map.ts";

/** What the scripts get as their `ctx`; `workflow` is always "agent". */
export interface TurnContext {
  readonly sessionKey: string;
  readonly agentId: string;
  readonly model?: string;
  /** Counted per session, from 0, if the gateway passes none. Skipped turns count, too. */
  readonly turnIndex?: number;
  /** Plain data of the gateway; all three hooks of the turn get it. */
  readonly meta?: Record<string, unknown>;
  readonly workflow?: "agent";
}

export type TokenUsage = z.input<typeof tokenUsage>;

/** The result of a turn: its value, and the tokens it used if they are known. */
export interface TurnResult<Value> {
  readonly value: Value;
  readonly usage?: TokenUsage | undefined;
}

export type TurnOutcome<Value> =
  | { readonly aborted: true; readonly by: string | undefined; readonly reason: string | undefined }
  | { readonly aborted: false; readonly value: Value; readonly usage: TokenUsage | undefined; readonly durationMs: number };

export interface TurnOptions {
  readonly signal?: AbortSignal;
}

/** The turn itself. The signal is the caller's, or one that never fires. */
export type ExecuteTurn<Value> = (turn: {
  readonly signal: AbortSignal;
  readonly turnIndex: number;
}) => TurnResult<Value> | Promise<TurnResult<Value>>;

/** What a turn needs of a host. */
export interface TurnHost {
  run(
    hook: "beforeTurn",
    event: EventOf<Catalog["beforeTurn"]>,
    ctx?: undefined,
    options?: TurnOptions,
  ): Promise<Pick<Outcome, "decision" | "by" | "reason">>;
  emit(hook: "afterTurn", event: EventOf<Catalog["afterTurn"]>): void;
  emit(hook: "onTurnError", event: EventOf<Catalog["onTurnError"]>): void;
}

const counters = new WeakMap<TurnHost, BoundedMap<number>>();

/**
 * Runs a turn: `beforeTurn`, then `execute` unless a handler aborted, then `afterTurn` or `onTurnError`.
 *
 * Rejects as `execute` does and, before `execute` is called, for the caller's own mistakes as `host.run` does (a closed host, an invalid
 * `ctx`, an aborted signal): then there was no turn, and no hook is told of an error.
 *
 * @example
 * const turn = await host.turn({ sessionKey, agentId }, async ({ signal }) => {
 *   const reply = await agent.answer(message, { signal });
 *   return { value: reply, usage: reply.usage };
 * });
 * if (turn.aborted) console.log(`skipped by ${turn.by}: ${turn.reason}`);
 */
export async function runTurn<Value>(
  host: TurnHost,
  ctx: TurnContext,
  execute: ExecuteTurn<Value>,
  { signal = new AbortController().signal }: TurnOptions = {},
): Promise<TurnOutcome<Value>> {
  signal.throwIfAborted();
  const turnIndex = nextIndex(host, ctx);
  const event = { ...ctx, turnIndex, workflow: "agent" } as const;
  const { decision, by, reason } = await host.run("beforeTurn", event, undefined, { signal });
  if (decision === "abort") return { aborted: true, by, reason };
  signal.throwIfAborted();
  const startedMs = performance.now();
  const durationMs = (): number => performance.now() - startedMs;
  let result: TurnResult<Value>;
  try {
    result = await execute({ signal, turnIndex });
  } catch (error) {
    host.emit("onTurnError", { ...event, durationMs: durationMs(), error: errorText(error) });
    throw error;
  }
  const { value, usage } = result;
  const tookMs = durationMs();
  host.emit("afterTurn", { ...event, durationMs: tookMs, ...(usage && { usage }) });
  return { aborted: false, value, usage, durationMs: tookMs };
}

function nextIndex(host: TurnHost, { sessionKey, turnIndex }: TurnContext): number {
  let counts = counters.get(host);
  if (!counts) counters.set(host, (counts = new BoundedMap(REMEMBERED_SESSIONS)));
  const index = turnIndex ?? counts.get(sessionKey) ?? 0;
  counts.set(sessionKey, index + 1);
  return index;
}

/** The message only: a stack would tell plugins about the gateway's files. */
function errorText(error: unknown): string {
  try {
    return (error instanceof Error ? error.message || error.name : String(error)).slice(0, LIMITS.call.errorStackChars);
  } catch {
    return "an error that cannot be shown";
  }
}
