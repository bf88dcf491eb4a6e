/**
 * Trusted side: one request of a plugin's, from the moment it is asked for until its answer was read, given up, or took too
 * long. Its number is the plugin's choice, and means something only within the cell that chose it.
 */
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { AnswerBody, Piece } from "./answer-body.ts";

export interface OpenFetchOptions {
  readonly origin: string;
  /** Until the answer has begun. */
  readonly timeoutMs: number;
  /** Until it has ended. */
  readonly bodyMs: number;
  /** Until it is read. */
  readonly idleMs: number;
  /** It holds nothing any more. */
  released(): void;
}

export class OpenFetch {
  readonly #options: OpenFetchOptions;
  readonly #ending = new AbortController();
  #clock: NodeJS.Timeout;
  #idle: NodeJS.Timeout | undefined;
  #body: AnswerBody | undefined;
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

  /** It failed, and nobody was told: the next read is. */
  get isFailed(): boolean {
    return this.signal.aborted;
  }

  /** The rest of the body follows, when the plugin asks for it. */
  streams(body: AnswerBody): void {
    this.#body = body;
    // It was aborted while its head arrived.
    if (this.#isReleased) return body.destroy();
    clearTimeout(this.#clock);
    this.#clock = this.#limit(this.#options.bodyMs);
    this.#rest();
  }

  /** True: that was all. */
  async read(): Promise<{ readonly piece: Piece; readonly isOver: boolean }> {
    this.signal.throwIfAborted();
    const body = this.#body;
    if (!body || this.#isReading) throw new CreelError("ERR_FETCH_BODY", { detail: "it is being read already, or is not there yet" });
    this.#isReading = true;
    clearTimeout(this.#idle);
    try {
      this.#reads += 1;
      const piece = await body.next(LIMITS.fetchChunkBytes, Math.min(this.#reads * LIMITS.fetchGatherStepMs, LIMITS.fetchGatherMs));
      return { piece, isOver: body.isOver };
    } finally {
      this.#isReading = false;
      if (!this.#isReleased) this.#rest();
    }
  }

  /** Ends it: what waits for it fails with the error. */
  abort(error: CreelError): void {
    if (this.#isReleased) return;
    this.#ending.abort(error);
    this.release();
  }

  /** It is over, one way or the other. */
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

  /** Nobody reads. */
  #rest(): void {
    const { idleMs } = this.#options;
    const detail = `it was not read for ${idleMs / 1000} s, and is gone`;
    this.#idle = setTimeout(() => this.abort(new CreelError("ERR_FETCH_BODY", { detail })), idleMs).unref();
  }
}

/** Failed ones that were not asked for are forgotten past so many. */
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

  // SECURITY: a number leads to nothing but what the same plugin began in the same cell. test/host/fetch-streams.test.ts
  find(plugin: string, cell: number, id: number): OpenFetch | undefined {
    return this.#cells.get(keyOf(plugin, cell))?.get(id);
  }

  remove(plugin: string, cell: number, id: number): void {
    const own = this.#cells.get(keyOf(plugin, cell));
    own?.delete(id);
    if (own?.size === 0) this.#cells.delete(keyOf(plugin, cell));
  }

  /** The cell is gone. */
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
