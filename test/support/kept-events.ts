/**
 * The receiver of durable events in tests of a fleet: what a gateway has emitted, which of it a host has kept, and what has arrived. An event
 * is lost if `kept` had resolved for it and it never comes.
 */
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { sessionEndEvent } from "creel";
import type { Host } from "creel";

/** `poison`: its handler throws, always. `bomb`: its handler fills the memory. */
type Kind = "plain" | "poison" | "bomb";

interface Emitted {
  readonly session: string;
  readonly kind: Kind;
  isKept: boolean;
  /** Of each delivery that has arrived. */
  readonly ids: string[];
}

export interface EventFigures {
  readonly events: number;
  readonly lost: number;
  readonly twice: number;
  /** Duplicates with another id. */
  readonly otherIds: number;
  readonly outOfOrder: number;
}

/** A multiple of the plugins: each session has one that tells of it. */
const SESSIONS = 60;

/** Plugins that share the work: one may fetch 300 times a minute, and the table has more events than that. */
export const TELLERS = 4;

/** The part of a plugin that hears them, and posts those of its share to `origin`. */
export function teller(origin: string, share: number): string {
  return `api.on("session:end", async ({ context }, { delivery }) => {
    const { n, kind } = context.metadata;
    if (kind === "poison" && ${share} === 0) throw new Error("not this one");
    if (kind === "bomb" && ${share} === 0) { const all = new Map(); for (let at = 0; ; at++) all.set(at, new Array(1_000).fill(at)); }
    if (kind !== "plain" || n % ${TELLERS} !== ${share}) return;
    const { ok } = await fetch("${origin}/", { method: "POST", body: JSON.stringify({ n, id: delivery.id }) });
    if (!ok) throw new Error("refused");
  });`;
}

export class KeptEvents implements Disposable {
  readonly #server: Server;
  readonly #all = new Map<number, Emitted>();
  readonly #arrivals: number[] = [];
  readonly #emitting = new Set<Promise<void>>();
  /** How long the receiver takes: a host that is killed meanwhile has told, and does not know it. */
  answerMs = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<KeptEvents> {
    const server = createServer();
    const events = new KeptEvents(server);
    server.on("request", (request, response) => {
      void text(request).then(async (body) => {
        const { n, id } = JSON.parse(body) as { n: number; id: string };
        events.#all.get(n)!.ids.push(id);
        events.#arrivals.push(n);
        await sleep(events.answerMs);
        response.end("{}");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return events;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  emit(gateway: Host, kind: Kind = "plain"): void {
    const n = this.#all.size;
    // Later events of a session wait behind one that fails, so such a one has a session of its own.
    const emitted: Emitted = { session: kind === "plain" ? `e${n % SESSIONS}` : `${kind}${n}`, kind, isKept: false, ids: [] };
    this.#all.set(n, emitted);
    const event = sessionEndEvent({ sessionId: "s", sessionKey: emitted.session, metadata: { n, kind } });
    const kept = gateway.emit("session:end", event)?.kept;
    if (kept === undefined) throw new Error("the hook is not durable");
    const done = kept.then(
      () => void (emitted.isKept = true),
      () => {},
    );
    this.#emitting.add(done);
    void done.finally(() => this.#emitting.delete(done));
  }

  get count(): number {
    return this.#all.size;
  }

  /** Of the events since that number. Waits until all that was kept is there, at most for so long. */
  async figures(from: number, withinMs: number): Promise<EventFigures> {
    const endMs = performance.now() + withinMs;
    const late = sleep(withinMs, undefined, { ref: false });
    while (this.#emitting.size > 0 && performance.now() < endMs) await Promise.race([Promise.all(this.#emitting), late]);
    const mine = [...this.#all].filter(([n, { kind }]) => n >= from && kind === "plain");
    const missing = (): number => mine.filter(([, { isKept, ids }]) => isKept && ids.length === 0).length;
    while (missing() > 0 && performance.now() < endMs) await sleep(50);
    return {
      events: mine.filter(([, { isKept }]) => isKept).length,
      lost: missing(),
      twice: mine.filter(([, { ids }]) => ids.length > 1).length,
      otherIds: mine.filter(([, { ids }]) => new Set(ids).size > 1).length,
      outOfOrder: this.#outOfOrder(from),
    };
  }

  /** By the first arrival of each. */
  #outOfOrder(from: number): number {
    const latest = new Map<string, number>();
    const seen = new Set<number>();
    let count = 0;
    for (const n of this.#arrivals) {
      if (n < from || seen.has(n)) continue;
      seen.add(n);
      const { session } = this.#all.get(n)!;
      if (n < (latest.get(session) ?? -1)) count += 1;
      latest.set(session, n);
    }
    return count;
  }

  [Symbol.dispose](): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
