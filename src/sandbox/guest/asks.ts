/** Inside the isolate: questions to the host. A question is left as mail; its answer comes back as a turn of its own. */
import { LIMITS } from "../../protocol/limits.ts";
import { MAIL } from "../../protocol/mail.ts";
import { beginTurn, post, turn } from "./mailbox.ts";
import { NativeError, NativePromise, parse, SafeMap, stringify } from "./primordials.ts";

interface Question {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  /** The call that asked: what follows from the answer is still its doing. */
  call: number;
}

const questions = new SafeMap<Question>();
let next = 1;
let pending = 0;

/** `service` is a name of protocol/services.ts; the host decides whether this plugin may. */
export function ask(service: string, args: unknown, limit: number = LIMITS.askBytes): Promise<unknown> {
  return new NativePromise((resolve, reject) => {
    if (pending >= LIMITS.pendingAsks) throw new NativeError(`a plugin may have ${LIMITS.pendingAsks} questions to the host pending`);
    const json = stringify(args) as string | undefined;
    const text = json ?? "null";
    if (text.length > limit) throw new NativeError(`a question to the host may have ${limit} characters`);
    const id = next++;
    pending += 1;
    questions.set(id, { resolve, reject, call: turn.call });
    post(MAIL.ask, id, 0, turn.call, `${service}\n${text}`);
  });
}

/** The host has answered. */
export function answered(id: number, isOk: boolean, text: string): void {
  const question = questions.get(id);
  if (!question) return;
  questions.delete(id);
  pending -= 1;
  beginTurn(question.call);
  const value = parse(text) as unknown;
  if (isOk) return question.resolve(value);
  const { code, message } = value as { code: string; message: string };
  const error = new NativeError(message) as Error & { code: string };
  error.code = code;
  question.reject(error);
}

/** A call ran out of time: nobody waits for what it had asked. */
export function dropQuestionsOf(call: number): void {
  questions.each((id, question) => {
    if (question.call === call && questions.delete(id)) pending -= 1;
  });
}
