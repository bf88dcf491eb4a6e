/**
 * Trusted side: a stream of JetStream as a log of the fleet, by the requests that the server documents. Messages are read one by one and directly:
 * a client that may create a consumer could make the server send messages of its choice.
 */
import * as z from "zod";
import { CreelError } from "../protocol/errors.ts";
import { parseJson } from "../text/parse-json.ts";
import type { Appended, EventLog } from "./bus.ts";

export interface LogAnswer {
  /** 0 where the server names none. */
  readonly status: number;
  readonly subject: string;
  readonly text: string;
  /** Where an answer to it goes. */
  readonly reply: string;
  readonly header: (key: string) => string;
}

/** One request; `id`: the server drops a second one. */
export type AskLog = (subject: string, text: string, id?: string, timeoutMs?: number) => Promise<LogAnswer>;

export const failure = z.object({
  error: z.object({ code: z.number().optional(), err_code: z.number().optional(), description: z.string().optional() }),
});
const stored = z.object({ stream: z.string(), seq: z.number() });

/** A stream of that name exists, with other settings: an operator has changed them. */
const EXISTS = 10058;
const NOT_FOUND = 404;

/** For so long a server knows the ids that it has seen. */
const DUPLICATES_MS = 120_000;

export class NatsLog implements EventLog {
  readonly #name: string;
  readonly #ask: AskLog;

  constructor(name: string, ask: AskLog) {
    this.#name = name;
    this.#ask = ask;
  }

  async append(subject: string, text: string, id: string): Promise<void> {
    const answer = await this.#ask(subject, text, id).catch((error: unknown) => {
      if (!(error instanceof CreelError) || error.code !== "ERR_FLEET_NOBODY") throw error;
      throw new CreelError("ERR_FLEET_FAILED", { subject, detail: "the servers have no such log, or are choosing its leader" });
    });
    const parsed = parseJson(stored, answer.text);
    // Another subscriber of the subject may have answered: only the stream's own word counts.
    if (!parsed.success || parsed.data.stream !== this.#name) throw failed(subject, answer.text);
  }

  async next(after: number): Promise<Appended | undefined> {
    const subject = `$JS.API.DIRECT.GET.${this.#name}`;
    const { status, text, header } = await this.#ask(subject, JSON.stringify({ seq: after + 1, next_by_subj: ">" }));
    if (status === NOT_FOUND) return undefined;
    if (status !== 0) throw failed(subject, `status ${status}`);
    return { number: Number(header("Nats-Sequence")), subject: header("Nats-Subject"), text };
  }

  async delete(number: number): Promise<void> {
    const subject = `$JS.API.STREAM.MSG.DELETE.${this.#name}`;
    const { text } = await this.#ask(subject, JSON.stringify({ seq: number, no_erase: true }));
    if (parseJson(failure, text).success) throw failed(subject, text);
  }

  make(subjects: readonly string[], replicas: number, days: number, mayDelete = false): Promise<void> {
    // What is in it stays until it is old.
    const kept = { retention: "limits", max_age: days * 24 * 3_600 * 1e9, discard: "old", deny_delete: !mayDelete, deny_purge: true };
    return makeStream(this.#ask, this.#name, { subjects, num_replicas: replicas, allow_direct: true, ...kept });
  }
}

/** One that exists stays as it is. */
export async function makeStream(ask: AskLog, name: string, settings: object): Promise<void> {
  const whole = {
    name,
    storage: "file",
    max_bytes: -1,
    max_msgs: -1,
    max_consumers: -1,
    duplicate_window: DUPLICATES_MS * 1e6,
    ...settings,
  };
  const { text } = await ask(`$JS.API.STREAM.CREATE.${name}`, JSON.stringify(whole));
  const parsed = parseJson(failure, text);
  if (parsed.success && parsed.data.error.err_code !== EXISTS) throw failed(name, text);
}

export function failed(subject: string, text: string): CreelError {
  const parsed = parseJson(failure, text);
  const detail = parsed.success ? (parsed.data.error.description ?? "the server refused it") : text.slice(0, 200);
  return new CreelError("ERR_FLEET_FAILED", { subject, detail });
}
