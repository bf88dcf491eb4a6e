/**
 * Trusted side, the gateway's process: events of durable hooks on their way to a host in another process. Each has an id and is sent until
 * the host says that it is kept, one after the other, so that a host that restarts misses none and their order stays. They wait in memory:
 * what must survive the gateway itself is what `kept` has resolved for.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { CreelError } from "../../protocol/errors.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { EmitOptions, Emitted } from "../../host/host-api.ts";
import type { Logger } from "../../host/report/log.ts";
import type { JoinedLink } from "./joined-link.ts";

/** The host is away, starts, ends or is busy: the event can be sent again. Any other error is an answer. */
const PASSING: ReadonlySet<ErrorCode> = new Set([
  "ERR_SERVE_CONNECT",
  "ERR_SERVE_REFUSED",
  "ERR_SERVE_LOST",
  "ERR_SERVE_BUSY",
  "ERR_HOST_CLOSED",
  "ERR_FLEET_AWAY",
  "ERR_FLEET_NOBODY",
  "ERR_FLEET_LATE",
]);

interface Unsent {
  readonly hook: string;
  /** The parameters of the request, as they were when it was emitted. */
  readonly text: string;
  readonly cause: string | undefined;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class DurableEmits {
  readonly #joined: Pick<JoinedLink, "request" | "isClosed">;
  readonly #logger: Logger;
  readonly #unsent: Unsent[] = [];
  readonly #closed = new AbortController();
  #bytes = 0;
  #isSending = false;
  #sending: Promise<void> | undefined;
  #isAway = false;

  constructor(joined: Pick<JoinedLink, "request" | "isClosed">, logger: Logger) {
    this.#joined = joined;
    this.#logger = logger;
  }

  /** A rejection that nobody awaits is logged, and raises no `unhandledRejection`. */
  emit(params: { hook: string; event: unknown; ctx: unknown }, cause: string | undefined, options: EmitOptions = {}): Emitted {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { hook } = params;
    promise.catch((error: unknown) => this.#logger.error({ hook, err: error }, "an emitted event was not kept"));
    try {
      this.#add({ hook, text: textOf(params, options), cause, resolve, reject });
    } catch (error) {
      reject(error);
    }
    return { kept: promise };
  }

  /** Sends what waits, if the host is there; rejects the rest. */
  async close(): Promise<void> {
    if (this.#isAway) this.#closed.abort();
    const patience = setTimeout(() => this.#closed.abort(), LIMITS.sandbox.drainMs);
    await this.#sending;
    clearTimeout(patience);
    this.#closed.abort();
  }

  #add(unsent: Unsent): void {
    if (this.#closed.signal.aborted || this.#joined.isClosed) throw new CreelError("ERR_HOST_CLOSED");
    const limit = LIMITS.outbox.unsentBytes;
    if (this.#bytes + unsent.text.length > limit) throw new CreelError("ERR_OUTBOX_FULL", { hook: unsent.hook, bytes: this.#bytes, limit });
    this.#bytes += unsent.text.length;
    this.#unsent.push(unsent);
    if (!this.#isSending) this.#sending = this.#send();
  }

  /** Never rejects. */
  async #send(): Promise<void> {
    this.#isSending = true;
    for (let pauseMs: number = LIMITS.outbox.firstPauseMs; this.#unsent.length > 0;) {
      const first = this.#unsent[0]!;
      try {
        if (this.#closed.signal.aborted) throw new CreelError("ERR_HOST_CLOSED");
        await this.#joined.request("emit", JSON.parse(first.text) as object, { cause: first.cause }, first.hook);
        this.#isAway = false;
        pauseMs = LIMITS.outbox.firstPauseMs;
        this.#settled(first).resolve();
      } catch (error) {
        this.#isAway = isPassing(error);
        if (!this.#isAway || this.#closed.signal.aborted || this.#joined.isClosed) this.#settled(first).reject(error);
        else {
          await sleep(pauseMs, undefined, { signal: this.#closed.signal }).catch(() => {});
          pauseMs = Math.min(2 * pauseMs, LIMITS.outbox.lookMs);
        }
      }
    }
    // At once: an event that is emitted when `kept` resolves must start this again.
    this.#isSending = false;
  }

  #settled(first: Unsent): Unsent {
    this.#unsent.shift();
    this.#bytes -= first.text.length;
    return first;
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof CreelError && PASSING.has(error.code);
}

function textOf({ hook, event, ctx }: { hook: string; event: unknown; ctx: unknown }, { id }: EmitOptions): string {
  try {
    return JSON.stringify({ hook, event, ctx, id: id ?? randomBytes(12).toString("base64url") });
  } catch (error) {
    throw new CreelError("ERR_EVENT_NOT_JSON", { hook, detail: (error as Error).message });
  }
}
