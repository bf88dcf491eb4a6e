/**
 * `creel hook --for <agent> --event <event>`: one event of another agent, from its stdin to its stdout. `main.ts` comes
 * here without the other verbs. Whatever goes wrong before a decision is a denial where the agent can be stopped.
 */
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { defaultSocket } from "../../sdk/remote/serve-place.ts";
import { agentOf } from "../../serve/agents/agents.ts";
import { readPayload } from "../../serve/agents/format.ts";
import type { AgentFormat, HookDecision } from "../../serve/agents/format.ts";
import { explained, judge, refusal } from "../../serve/agents/judge.ts";
import { HostClient } from "./host-client.ts";

export interface HookCall {
  readonly format: AgentFormat;
  readonly event: string;
  readonly socket: string;
  readonly waitMs: number;
}

export interface HookAnswer {
  /** For the agent. Undefined: nothing is printed. */
  readonly json: object | undefined;
  /** For people: why Creel could not judge. */
  readonly problem: string | undefined;
}

export async function answerHook({ format, event, socket, waitMs }: HookCall, input: AsyncIterable<Buffer>): Promise<HookAnswer> {
  const moment = format.events[event]!;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new CreelError("ERR_HOOK_SLOW", { ms: waitMs })), waitMs);
  let client: HostClient | undefined;
  const work = async (): Promise<HookDecision> => {
    const wrong = (detail: string): CreelError => new CreelError("ERR_HOOK_PAYLOAD", { agent: format.title, event, detail });
    // The host is found while the agent writes.
    const opening = HostClient.open(socket).then((opened) => (client = opened));
    const [text, host] = await Promise.all([readInput(input, wrong), opening]);
    const { reading } = readPayload(format, event, parsed(text, wrong));
    return judge(format, moment, reading, host);
  };
  try {
    const decided = await Promise.race([work(), late.promise]);
    return { json: format.answer(moment, event, decided), problem: undefined };
  } catch (error) {
    return { json: format.answer(moment, event, refusal(format, moment, error)), problem: explained(error) };
  } finally {
    clearTimeout(timer);
    client?.close();
  }
}

async function readInput(input: AsyncIterable<Buffer>, wrong: (detail: string) => CreelError): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    bytes += chunk.length;
    if (bytes > LIMITS.serve.hookBytes) throw wrong(`it has more than ${LIMITS.serve.hookBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parsed(text: string, wrong: (detail: string) => CreelError): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrong("it is not JSON");
  }
}

/** The options of a call. Anything else is for the verb, which explains itself. Undefined: this is no call. */
export function hookCallOf(args: readonly string[]): HookCall | undefined {
  const given = new Map<string, string>();
  for (let at = 0; at < args.length; at += 2) {
    if (!["--for", "--event", "--socket", "--wait"].includes(args[at]!) || args[at + 1] === undefined) return undefined;
    given.set(args[at]!, args[at + 1]!);
  }
  const format = agentOf(given.get("--for"));
  const event = given.get("--event");
  const waitMs = Number(given.get("--wait") ?? LIMITS.serve.hookMs);
  if (!format || event === undefined || !Object.hasOwn(format.events, event) || !(waitMs > 0)) return undefined;
  return { format, event, socket: given.get("--socket") ?? defaultSocket(process.env.CREEL_STATE_DIR || undefined), waitMs };
}
