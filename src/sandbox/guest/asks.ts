/**
 * Inside the isolate: questions to the host. A question is left as mail; its answer comes back as a turn of its own. The host
 * takes so many at a time; the rest waits here, on the plugin's own heap, the oldest first.
 */
import { LIMITS } from "../../protocol/limits.ts";
import { MAIL } from "../../protocol/mail.ts";
import { beginTurn, post, turn } from "./mailbox.ts";
import { mapDelete, mapEach, mapGet, mapSet, NativeError, NativeMap, NativePromise, parse, stringify } from "./primordials.ts";

interface Question {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  /** The call that asked: what follows from the answer is still its doing. */
  call: number;
  /** As long as it waits to be sent. */
  text: string | undefined;
  /** What to do when the call is dropped that asked, and the host has the question. */
  dropped?: ((call: number) => void) | undefined;
}

const questions = new NativeMap<number, Question>();
let next = 1;
/** The oldest that was not sent; those before it are with the host, answered or dropped. */
let unsent = 1;
let waiting = 0;
let pending = 0;

/** `service` is a name of protocol/services.ts; the host decides whether this plugin may. */
export function ask(service: string, args: unknown, limit: number = LIMITS.askBytes, dropped?: (call: number) => void): Promise<unknown> {
  return new NativePromise((resolve, reject) => {
    if (waiting >= LIMITS.waitingAsks)
      throw coded("ERR_SERVICE_BUSY", `the plugin already has ${waiting + pending} questions to the host pending`);
    const json = stringify(args) as string | undefined;
    const text = json ?? "null";
    if (text.length > limit) throw new NativeError(`a question to the host may have ${limit} characters`);
    mapSet(questions, next++, { resolve, reject, call: turn.call, text: `${service}\n${text}`, dropped });
    waiting += 1;
    send();
  });
}

/** A word to the host whose answer nobody waits for. */
export function say(service: string, args: object, call: number = turn.call): void {
  mapSet(questions, next++, { resolve: nothing, reject: nothing, call, text: `${service}\n${stringify(args)}` });
  waiting += 1;
  send();
}

function nothing(): void {}

/** As many as the host takes. */
function send(): void {
  while (pending < LIMITS.pendingAsks && unsent < next) {
    const id = unsent++;
    const question = mapGet(questions, id);
    // Dropped meanwhile.
    if (!question) continue;
    waiting -= 1;
    pending += 1;
    post(MAIL.ask, id, 0, question.call, question.text);
    question.text = undefined;
  }
}

/** The host has answered. */
export function answered(id: number, isOk: boolean, text: string): void {
  const question = mapGet(questions, id);
  if (!question) return;
  mapDelete(questions, id);
  pending -= 1;
  beginTurn(question.call);
  send();
  const value = parse(text) as unknown;
  if (isOk) return question.resolve(value);
  const { code, message } = value as { code: string; message: string };
  question.reject(coded(code, message));
}

/** A call ran out of time: nobody waits for what it had asked. */
export function dropQuestionsOf(call: number): void {
  const dropped = new NativeMap<number, (call: number) => void>();
  mapEach(questions, (question, id) => {
    if (question.call !== call || !mapDelete(questions, id)) return;
    if (question.text === undefined) {
      pending -= 1;
      if (question.dropped) mapSet(dropped, id, question.dropped);
    } else waiting -= 1;
  });
  mapEach(dropped, (tell) => tell(call));
  send();
}

/** An error as the host's answers are. */
export function coded(code: string, message: string): Error {
  const error = new NativeError(message) as Error & { code: string };
  error.code = code;
  return error;
}
