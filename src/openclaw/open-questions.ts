/**
 * Trusted side: the questions about tool calls that sandboxed plugins have handed to OpenClaw. OpenClaw asks the first question of a call, and drops
 * what later handlers ask or change; a later sandboxed plugin therefore looks here, and blocks.
 */
import type { Fields } from "./gateway-api.ts";

export interface OpenQuestion {
  readonly plugin: string;
  /** The handler that asked. */
  readonly by: object;
  /** The call does not run: nobody waits for the answer any more, and the plugin hears "cancelled". */
  withdraw(): void;
}

export class OpenQuestions {
  readonly #byCall = new Map<string, Set<OpenQuestion>>();

  /** What another handler has asked about the call. */
  before(call: string, by: object): OpenQuestion | undefined {
    return [...(this.#byCall.get(call) ?? [])].find((one) => one.by !== by);
  }

  add(call: string, question: OpenQuestion): void {
    this.#byCall.set(call, (this.#byCall.get(call) ?? new Set()).add(question));
  }

  settled(call: string, question: OpenQuestion): void {
    const open = this.#byCall.get(call);
    open?.delete(question);
    if (open?.size === 0) this.#byCall.delete(call);
  }
}

const KEY = Symbol.for("creel.openclaw.questions/1");

/** Those of the process: all copies of this module share them. */
export function openQuestions(): OpenQuestions {
  const global = globalThis as { [KEY]?: OpenQuestions };
  return (global[KEY] ??= new OpenQuestions());
}

/** The same for all handlers of one tool call. Equal calls without an id count as one: that blocks too much rather than too little. */
export function callKey(event: Fields, ctx: Fields): string {
  const [runId, toolCallId] = [event.runId ?? ctx.runId, event.toolCallId ?? ctx.toolCallId];
  const call = typeof toolCallId === "string" ? [toolCallId] : [event.toolName, event.params];
  return JSON.stringify([ctx.sessionKey, runId, ...call]);
}
