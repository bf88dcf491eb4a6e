/**
 * Trusted side, an operator's command: reads what the hosts have shipped of their audit logs, and says where something is missing. The server ties
 * the subject to a host; the lines are that host's word, and untrusted text.
 */
import { oneLine } from "../../text/one-line.ts";
import type { EventLog } from "../bus.ts";
import { auditPart, read } from "../messages.ts";
import type { Here } from "../messages.ts";
import { writerOf } from "../subjects.ts";

export interface Shipped {
  /** Of its part in the fleet's log: reading goes on after it. */
  readonly number: number;
  readonly host: string;
  /** As it is in the host's file; undefined where something is missing. */
  readonly line: unknown;
  /** What is missing here. */
  readonly gap: string | undefined;
}

interface Reached {
  readonly log: string;
  readonly next: number;
}

export class AuditReader {
  readonly #source: EventLog;
  readonly #reached = new Map<string, Reached>();
  /** Is the beginning of each host's log to be read? */
  readonly #isFromStart: boolean;
  /** The number of the last part that was read. */
  number: number;

  constructor(source: EventLog, after = 0) {
    this.#source = source;
    this.#isFromStart = after === 0;
    this.number = after;
  }

  /** Up to what is there now. Can be called again. */
  async *lines(): AsyncGenerator<Shipped> {
    for (;;) {
      const part = await this.#source.next(this.number);
      if (!part) return;
      this.number = part.number;
      const host = writerOf(part.subject, "audit");
      if (host !== undefined) yield* this.#part(host, part.text);
    }
  }

  /** What hosts say they have shipped and is not there. */
  *missing(hosts: readonly (Pick<Here, "audit"> & { readonly host: string })[]): Generator<Shipped> {
    for (const { host, audit } of hosts) {
      const reached = this.#reached.get(host);
      if (!audit || audit.next === 0 || (!reached && !this.#isFromStart)) continue;
      if (reached?.log !== audit.log) yield this.#gap(host, `it has shipped ${audit.next} parts of its log, and none of them is here`);
      else if (reached.next < audit.next) yield this.#gap(host, partsMissing(reached.next, audit.next));
    }
  }

  *#part(host: string, text: string): Generator<Shipped> {
    const end = text.indexOf("\n");
    const header = read(auditPart, end === -1 ? text : text.slice(0, end));
    if (!header) {
      yield this.#gap(host, "a part is not of the form that hosts ship");
      return;
    }
    const { log, n, gap } = header;
    const reached = this.#reached.get(host);
    // It was sent again: the host did not learn that it had arrived.
    if (reached?.log === log && n < reached.next) return;
    if (reached && reached.log !== log) yield this.#gap(host, "a new log begins: the host has another state folder than before");
    const first = reached?.log === log ? reached.next : reached || this.#isFromStart ? 0 : n;
    if (n > first) yield this.#gap(host, partsMissing(first, n));
    this.#reached.set(host, { log, next: n + 1 });
    if (gap) yield this.#gap(host, oneLine(`${gap.why} (${gap.name}${gap.since === undefined ? "" : `, after ${gap.since}`})`, 400));
    if (end === -1) return;
    for (const line of text.slice(end + 1).split("\n")) {
      try {
        yield { number: this.number, host, line: JSON.parse(line) as unknown, gap: undefined };
      } catch {
        yield this.#gap(host, "a line was torn: its writer was killed, or it is longer than a part");
      }
    }
  }

  #gap(host: string, gap: string): Shipped {
    return { number: this.number, host, line: undefined, gap };
  }
}

function partsMissing(from: number, to: number): string {
  return `parts ${from} to ${to - 1} are missing: they are older than the servers keep, or were lost there`;
}
