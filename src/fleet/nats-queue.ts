/**
 * Trusted side: a stream of JetStream whose messages are given out, each to one host, by the requests that the server documents. A host asks for the
 * next message of a consumer that an operator has made; it has no right to make one, since a consumer sends to any subject.
 */
import * as z from "zod";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { parseJson } from "../text/parse-json.ts";
import type { Backlog, Queue, Taken } from "./bus.ts";
import { failed, failure, makeStream, NatsLog } from "./nats-log.ts";
import type { AskLog, LogAnswer } from "./nats-log.ts";

const page = z.object({
  total: z.int(),
  consumers: z.array(z.object({ name: z.string(), num_pending: z.int(), num_ack_pending: z.int() })).nullish(),
});

/** No message came while the server waited; it takes no more requests of this consumer now; the consumer or its leader is another. */
const NOTHING: ReadonlySet<number> = new Set([404, 408, 409]);
const NO_STREAM = 10059;

export class NatsQueue implements Queue {
  readonly #name: string;
  readonly #ask: AskLog;
  readonly #tell: (subject: string, text: string) => void;

  constructor(name: string, ask: AskLog, tell: (subject: string, text: string) => void) {
    this.#name = name;
    this.#ask = ask;
    this.#tell = tell;
  }

  append(subject: string, text: string, id: string): Promise<void> {
    return new NatsLog(this.#name, this.#ask).append(subject, text, id);
  }

  async take(consumer: string, waitMs: number): Promise<Taken | undefined> {
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${this.#name}.${consumer}`;
    let answer: LogAnswer;
    try {
      const timeoutMs = waitMs + LIMITS.fleet.wayMs;
      answer = await this.#ask(subject, JSON.stringify({ batch: 1, expires: waitMs * 1e6 }), { timeoutMs, isForwarded: true });
    } catch (error) {
      // The server that had the request has died: the next one goes to another.
      if (error instanceof CreelError && error.code === "ERR_FLEET_LATE") return undefined;
      throw error;
    }
    if (NOTHING.has(answer.status)) return undefined;
    const delivery = answer.status === 0 ? deliveryOf(answer.reply) : undefined;
    if (!delivery) throw new CreelError("ERR_FLEET_FAILED", { subject, detail: `status ${answer.status}` });
    const { reply } = answer;
    return {
      subject: answer.subject,
      text: answer.text,
      ...delivery,
      working: () => this.#tell(reply, "+WPI"),
      done: async () => void (await this.#ask(reply, "+ACK")),
      again: (ms) => this.#tell(reply, `-NAK ${JSON.stringify({ delay: Math.round(ms) * 1e6 })}`),
    };
  }

  make(subjects: readonly string[], replicas: number): Promise<void> {
    // A queue that is full refuses what is new: it waits where it was made.
    return makeStream(this.#ask, this.#name, { subjects, num_replicas: replicas, retention: "workqueue", discard: "new" });
  }

  async makeConsumer(consumer: string, filter: string): Promise<void> {
    const subject = `$JS.API.CONSUMER.CREATE.${this.#name}.${consumer}.${filter}`;
    const config = {
      name: consumer,
      durable_name: consumer,
      filter_subject: filter,
      deliver_policy: "all",
      ack_policy: "explicit",
      ack_wait: LIMITS.fleet.ackMs * 1e6,
      max_deliver: -1,
      max_ack_pending: LIMITS.fleet.maxUnsettled,
      replay_policy: "instant",
    };
    const { text } = await this.#ask(subject, JSON.stringify({ stream_name: this.#name, config }));
    if (parseJson(failure, text).success) throw failed(subject, text);
  }

  async backlogs(): Promise<Backlog[] | undefined> {
    const subject = `$JS.API.CONSUMER.LIST.${this.#name}`;
    const found: Backlog[] = [];
    for (;;) {
      const { text } = await this.#ask(subject, JSON.stringify({ offset: found.length }));
      const refused = parseJson(failure, text);
      if (refused.success && refused.data.error.err_code === NO_STREAM) return undefined;
      const parsed = parseJson(page, text);
      if (refused.success || !parsed.success) throw failed(subject, text);
      const { total, consumers } = parsed.data;
      for (const { name, num_pending: waiting, num_ack_pending: unsettled } of consumers ?? [])
        found.push({ consumer: name, waiting, unsettled });
      if (!consumers?.length || found.length >= total) return found;
    }
  }
}

/** `$JS.ACK.<stream>.<consumer>.<times given out>.<number>.…`; some servers put a domain and an account before the stream. */
function deliveryOf(reply: string): Pick<Taken, "attempt" | "number"> | undefined {
  const parts = reply.split(".");
  if (parts[0] !== "$JS" || parts[1] !== "ACK" || parts.length < 9) return undefined;
  const at = parts.length === 9 ? 4 : 6;
  const [attempt, number] = [Number(parts[at]), Number(parts[at + 1])];
  return Number.isInteger(attempt) && Number.isInteger(number) ? { attempt, number } : undefined;
}
