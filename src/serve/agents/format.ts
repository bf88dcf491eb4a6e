/**
 * Trusted side: how another agent's hooks look on the wire: which of its events are which moment, where a payload keeps
 * its fields, and how a decision is written. A payload comes from the agent, and the model chose what is in it: only the
 * types that are checked here count. Light on purpose: `creel hook` starts a process per event.
 */
import { CreelError } from "../../protocol/errors.ts";

export type Moment = "before-tool" | "after-tool" | "prompt" | "stop" | "before-compaction" | "session-start" | "session-end";

export type Bag = Readonly<Record<string, unknown>>;

/** The fields of a payload under one name for all agents. */
export interface Reading {
  readonly session: string | undefined;
  readonly cwd: string | undefined;
  readonly turn: string | undefined;
  readonly transcript: string | undefined;
  readonly toolName: string | undefined;
  readonly params: Bag | undefined;
  readonly toolCallId: string | undefined;
  readonly result: unknown;
  readonly error: string | undefined;
  readonly durationMs: number | undefined;
  readonly prompt: string | undefined;
  readonly source: string | undefined;
  readonly reason: string | undefined;
  readonly lastMessage: string | undefined;
  readonly isRetry: boolean | undefined;
  readonly messageCount: number | undefined;
}

/** `input`: all parameters, if a plugin changed some. */
export type HookDecision =
  | { readonly kind: "pass"; readonly input?: Bag | undefined; readonly context?: string | undefined }
  | { readonly kind: "ask"; readonly reason: string; readonly input?: Bag | undefined }
  | { readonly kind: "deny"; readonly reason: string }
  /** At `stop`: the agent goes on, with this as its instruction. */
  | { readonly kind: "revise"; readonly reason: string };

/** Paths with dots into a payload. The first that is there counts. */
export type Fields = { readonly [K in keyof Reading]?: string | readonly string[] };

export interface AgentFormat {
  /** As in `--for`, and in `ctx.gateway`. */
  readonly name: string;
  /** As its makers write it. */
  readonly title: string;
  readonly events: Readonly<Record<string, Moment>>;
  /** Where a payload names its event. Undefined: it does not. */
  readonly eventField?: string;
  readonly fields: Fields;
  /** What the agent obeys. Hooks whose answer it cannot obey are not run. */
  readonly obeys: {
    readonly ask: boolean;
    readonly rewrite: boolean;
    readonly promptBlock: boolean;
    readonly context: boolean;
    readonly revise: boolean;
  };
  /** The JSON that the agent reads. Undefined: silence, which lets the agent's own rules decide. */
  answer(moment: Moment, event: string, decided: HookDecision): Bag | undefined;
}

export function isBag(value: unknown): value is Bag {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The others are neither. */
const NUMBERS: ReadonlySet<string> = new Set<keyof Reading>(["durationMs", "messageCount"]);

/** Throws a CreelError. `event`: as the command line or the address says. The payload may not contradict it. */
export function readPayload(format: AgentFormat, event: string, payload: unknown): { readonly moment: Moment; readonly reading: Reading } {
  const wrong = (detail: string): CreelError => new CreelError("ERR_HOOK_PAYLOAD", { agent: format.title, event, detail });
  if (!isBag(payload)) throw wrong("the payload is not a JSON object");
  if (!Object.hasOwn(format.events, event)) throw wrong("Creel does not know this event");
  const said = format.eventField === undefined ? undefined : at(payload, format.eventField);
  if (said !== undefined && said !== event) throw wrong("the payload says that it is another event");
  const moment = format.events[event]!;
  const reading: Record<string, unknown> = {};
  for (const [field, paths] of Object.entries(format.fields) as [keyof Reading, string | readonly string[]][])
    reading[field] = typed(field, first(payload, [paths].flat()));
  if ((moment === "before-tool" || moment === "after-tool") && !(reading.toolName && reading.params))
    throw wrong("the payload names no tool, or its parameters are no object");
  if (moment === "prompt" && reading.prompt === undefined) throw wrong("the payload has no prompt");
  return { moment, reading: reading as unknown as Reading };
}

function typed(field: keyof Reading, value: unknown): unknown {
  if (field === "result") return value;
  if (field === "params") return parameters(value);
  if (field === "isRetry") return value === true;
  if (NUMBERS.has(field)) return Number.isFinite(value) ? value : undefined;
  return typeof value === "string" ? value : undefined;
}

/** Copilot writes an object as JSON text. A tool without parameters may have none. */
function parameters(value: unknown): Bag | undefined {
  if (value === undefined || value === null) return {};
  if (typeof value !== "string") return isBag(value) ? value : undefined;
  try {
    const parsed: unknown = JSON.parse(value);
    return isBag(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function first(payload: Bag, paths: readonly string[]): unknown {
  for (const path of paths) {
    const value = at(payload, path);
    if (value !== undefined) return value;
  }
  return undefined;
}

function at(payload: Bag, path: string): unknown {
  let value: unknown = payload;
  for (const key of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Bag)[key];
  }
  return value;
}
