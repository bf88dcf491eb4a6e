/**
 * Trusted side: one request of a plugin, from its start until its response was read, was abandoned or timed out. The
 * plugin chooses its number, which is valid only in the cell that chose it.
 */
import { CreelError } from "../../../protocol/errors.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import { PluginRates } from "../plugin-rates.ts";
import type { ResponseBody, Piece } from "./response-body.ts";

export interface OpenFetchOptions {
  readonly origin: string;
  /** Until the response begins. */
  readonly timeoutMs: number;
  /** Until the response ends. */
  readonly bodyMs: number;
  /** Between two reads of the response. */
  readonly idleMs: number;
  /** The request holds no resources any more. */
  released(): void;
}

export class OpenFetch {
  readonly #options: OpenFetchOptions;
  readonly #ending = new AbortController();
  #clock: NodeJS.Timeout;
  #idle: NodeJS.Timeout | undefined;
  #body: ResponseBody | undefined;
  #reads = 0;
  #isReading = false;
  #isReleased = false;

  constructor(options: OpenFetchOptions) {
    this.#options = options;
    this.#clock = this.#limit(options.timeoutMs);
  }

  get origin(): string {
    return this.#options.origin;
  }

  get isReading(): boolean {
    return this.#isReading;
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** It failed, and the next read will report that. */
  get isFailed(): boolean {
    return this.signal.aborted;
  }

  /** The plugin reads the rest of the body on request. */
  streams(body: ResponseBody): void {
    this.#body = body;
    // Aborted while the response head arrived.
    if (this.#isReleased) return body.destroy();
    clearTimeout(this.#clock);
    this.#clock = this.#limit(this.#options.bodyMs);
    this.#rest();
  }

  /** `isOver`: this was the last piece. */
  async read(): Promise<{ readonly piece: Piece; readonly isOver: boolean }> {
    this.signal.throwIfAborted();
    const body = this.#body;
    if (!body || this.#isReading) throw new CreelError("ERR_FETCH_BODY", { detail: "it is being read already, or has not begun" });
    this.#isReading = true;
    clearTimeout(this.#idle);
    try {
      this.#reads += 1;
      const piece = await body.next(LIMITS.fetch.chunkBytes, Math.min(this.#reads * LIMITS.fetch.gatherStepMs, LIMITS.fetch.gatherMs));
      return { piece, isOver: body.isOver };
    } finally {
      this.#isReading = false;
      if (!this.#isReleased) this.#rest();
    }
  }

  /** Pending reads fail with the error. */
  abort(error: CreelError): void {
    if (this.#isReleased) return;
    this.#ending.abort(error);
    this.release();
  }

  /** Frees everything, however the request ended. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    clearTimeout(this.#clock);
    clearTimeout(this.#idle);
    this.#body?.destroy();
    this.#options.released();
  }

  #limit(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.abort(new CreelError("ERR_FETCH_TIMEOUT", { origin: this.#options.origin, ms })), ms);
  }

  /** Starts the idle timeout. */
  #rest(): void {
    const { idleMs } = this.#options;
    const detail = `it was dropped after ${idleMs / 1000} s without a read`;
    this.#idle = setTimeout(() => this.abort(new CreelError("ERR_FETCH_BODY", { detail })), idleMs).unref();
  }
}

/** Past this number, failed requests that were never read are dropped. */
const KEPT = 64;

/** By plugin, cell and number. */
export class OpenFetches {
  readonly #cells = new Map<string, Map<number, OpenFetch>>();

  add(plugin: string, cell: number, id: number, fetch: OpenFetch): void {
    const key = keyOf(plugin, cell);
    let own = this.#cells.get(key);
    if (!own) this.#cells.set(key, (own = new Map()));
    own.set(id, fetch);
    if (own.size > KEPT) for (const [other, { isFailed }] of own) if (isFailed && own.size > KEPT) own.delete(other);
  }

  // SECURITY: a number only finds requests of the same plugin in the same cell.
  // test/host/services/fetch/streams.test.ts
  find(plugin: string, cell: number, id: number): OpenFetch | undefined {
    return this.#cells.get(keyOf(plugin, cell))?.get(id);
  }

  remove(plugin: string, cell: number, id: number): void {
    const own = this.#cells.get(keyOf(plugin, cell));
    own?.delete(id);
    if (own?.size === 0) this.#cells.delete(keyOf(plugin, cell));
  }

  /** Aborts the requests of a cell that is gone. */
  left(plugin: string, cell: number, error: CreelError): void {
    for (const fetch of this.#cells.get(keyOf(plugin, cell))?.values() ?? []) fetch.abort(error);
    this.#cells.delete(keyOf(plugin, cell));
  }

  close(error: CreelError): void {
    for (const own of this.#cells.values()) for (const fetch of own.values()) fetch.abort(error);
    this.#cells.clear();
  }
}

function keyOf(plugin: string, cell: number): string {
  return `${cell} ${plugin}`;
}

/** How many requests each plugin may have pending, and how many it may make within a window of time. */
export class FetchQuota {
  readonly #pending = new Map<string, number>();
  readonly #rates = new PluginRates("ERR_FETCH_RATE", LIMITS.fetch.perWindow, LIMITS.fetch.windowMs);

  /** Throws when the plugin may not make another request. Returns the function to call when the request has ended. */
  enter(plugin: string): () => void {
    const pending = this.#pending.get(plugin) ?? 0;
    if (pending >= LIMITS.fetch.pending) throw new CreelError("ERR_FETCH_BUSY", { limit: LIMITS.fetch.pending });
    this.#rates.take(plugin);
    this.#pending.set(plugin, pending + 1);
    return () => void this.#pending.set(plugin, this.#pending.get(plugin)! - 1);
  }
}
