/**
 * Trusted side: a stream of JetStream as a log of the fleet, by the requests that the server documents. Messages are read one by one: a client
 * that may create a consumer could make the server send messages of its choice. The same holds for DIRECT.GET of what that client may
 * write, whose answer is the bare message and goes to any subject; so what hosts write is read by MSG.GET, whose answer is nothing that
 * anybody in a fleet takes for a word.
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

export interface AskOptions {
  /** The server drops a second request of the same. */
  readonly id?: string;
  readonly timeoutMs?: number;
  /** The answer is a stored message, as it was stored. */
  readonly isForwarded?: boolean;
}

export type AskLog = (subject: string, text: string, options?: AskOptions) => Promise<LogAnswer>;

export const failure = z.object({
  error: z.object({ code: z.number().optional(), err_code: z.number().optional(), description: z.string().optional() }),
});
const stored = z.object({ stream: z.string(), seq: z.number() });

/** A stream of that name exists, with other settings: an operator has changed them. */
const EXISTS = 10058;
const NOT_FOUND = 404;
const NO_MESSAGE = 10037;

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
    const answer = await this.#ask(subject, text, { id }).catch((error: unknown) => {
      if (!(error instanceof CreelError) || error.code !== "ERR_FLEET_NOBODY") throw error;
      throw new CreelError("ERR_FLEET_FAILED", { subject, detail: "the servers have no such log, or are choosing its leader" });
    });
    const parsed = parseJson(stored, answer.text);
    // Another subscriber of the subject may have answered: only the stream's own word counts.
    if (!parsed.success || parsed.data.stream !== this.#name) throw failed(subject, answer.text);
  }

  async next(after: number): Promise<Appended | undefined> {
    const found = await readStored(this.#ask, this.#name, { seq: after + 1, next_by_subj: ">" }).catch((error: unknown) => {
      if (!isForbidden(error)) throw error;
      // The accounts of an earlier version.
      return this.#nextDirectly(after);
    });
    if (!found || "text" in found) return found;
    const { number, subject, bytes } = found;
    const text = Buffer.from(bytes).toString();
    return { number, subject: SERVERS_OWN.test(text) ? "" : subject, text };
  }

  async #nextDirectly(after: number): Promise<Appended | undefined> {
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

/** What the server says by itself, and a member has had it send to a log: it is in nobody's name. */
const SERVERS_OWN = /^\{"(?:type":"io\.nats\.|stream":")/;

export interface Stored {
  readonly number: number;
  readonly subject: string;
  readonly bytes: Uint8Array;
  /** As text: `key: value`, a line each. */
  readonly headers: string;
}

const got = z.object({
  message: z.object({ subject: z.string(), seq: z.int(), data: z.base64().default(""), hdrs: z.base64().default("") }),
});

/** From the server that leads the stream. Undefined: there is none. */
export async function readStored(ask: AskLog, stream: string, query: object): Promise<Stored | undefined> {
  const subject = `$JS.API.STREAM.MSG.GET.${stream}`;
  const { text } = await ask(subject, JSON.stringify(query));
  const refused = parseJson(failure, text);
  if (refused.success && refused.data.error.err_code === NO_MESSAGE) return undefined;
  const parsed = parseJson(got, text);
  if (refused.success || !parsed.success) throw failed(subject, text);
  const { subject: of, seq: number, data, hdrs } = parsed.data.message;
  return { number, subject: of, bytes: Buffer.from(data, "base64"), headers: Buffer.from(hdrs, "base64").toString() };
}

export function isForbidden(error: unknown): boolean {
  return error instanceof CreelError && error.code === "ERR_FLEET_FORBIDDEN";
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
