/**
 * Trusted side: who caused what. Every run has a chain: the run it began with, how deep it is, and which handlers lie between.
 * A chain follows a plugin's question to the gateway (AsyncLocalStorage, so the gateway developer does nothing), comes back
 * with the run that the gateway starts there, and travels as a number into the cell and out again with whatever a handler does
 * later, in timers and detached promises too. Out of the process it goes as a token (cause-tokens.ts).
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { LIMITS } from "../protocol/limits.ts";
import { CauseTokens, tokenIn } from "./cause-tokens.ts";
import type { CauseCarrier } from "./cause-tokens.ts";

export interface Chain {
  readonly rootRunId: string;
  readonly depth: number;
  /** `plugin:hook`, the oldest first. */
  readonly path: readonly string[];
  /** The runs that those handlers were called in, the oldest first. */
  readonly runIds: readonly string[];
  /** The plugin whose doing this run is; undefined at the root. */
  readonly by: string | undefined;
}

interface Remembered {
  readonly chain: Chain;
  readonly hook: string;
}

const current = new AsyncLocalStorage<{ readonly host: string; readonly chain: Chain }>();

export class Causes {
  readonly #host: string;
  readonly #runs = new Map<number, Remembered>();
  /** Runs that are over, in a ring: the oldest gives way. Those that go on are not forgotten. */
  readonly #over: number[] = [];
  #nextOver = 0;
  #roots = 0;
  /** Runs that go on, of hooks that are not run inside themselves. */
  readonly #open = new Map<string, string>();
  readonly #tokens = new CauseTokens();

  constructor(host: string) {
    this.#host = host;
  }

  /** The chain of a run that starts now. */
  begin(runId: string): Chain {
    const store = current.getStore();
    return store?.host === this.#host ? store.chain : { rootRunId: runId, depth: 0, path: NOWHERE, runIds: NOWHERE, by: undefined };
  }

  /** Keeps a run's chain for what its handlers do later. */
  remember(run: number, hook: string, chain: Chain): void {
    this.#runs.set(run, { chain, hook });
  }

  /** A run is over. What its handlers left behind (timers, detached promises) may go on. */
  finished(run: number): void {
    if (!this.#runs.has(run)) return;
    const slot = this.#nextOver++ % LIMITS.rememberedRuns;
    // Not a Map's oldest key: to find that takes a walk past all that were deleted before it.
    const oldest = this.#over[slot];
    if (oldest !== undefined) this.#runs.delete(oldest);
    this.#over[slot] = run;
  }

  /** The chain of something that a plugin does in, or because of, a run. While loading (run 0), or when the run was forgotten, it is a new one. */
  next(run: number, plugin: string): Chain {
    const known = this.#runs.get(run);
    const runId = `${this.#host}-${run}`;
    if (!known) {
      const path = [`${plugin}:${run === 0 ? "load" : "unknown"}`];
      return { rootRunId: `${runId}.${++this.#roots}`, depth: 1, path, runIds: [runId], by: plugin };
    }
    const { chain, hook } = known;
    return {
      rootRunId: chain.rootRunId,
      depth: chain.depth + 1,
      path: [...chain.path, `${plugin}:${hook}`],
      runIds: [...chain.runIds, runId],
      by: plugin,
    };
  }

  /** A run begins of a hook that is not run inside itself. */
  opened(runId: string, hook: string): void {
    this.#open.set(runId, hook);
  }

  ended(runId: string): void {
    this.#open.delete(runId);
  }

  /** Is the chain part of a run of this hook that still goes on? What a handler does after its run is over is not. */
  isInside(hook: string, chain: Chain): boolean {
    return chain.runIds.some((runId) => this.#open.get(runId) === hook);
  }

  /** Runs the gateway's code as caused by a chain. */
  within<T>(chain: Chain, work: () => T): T {
    return current.run({ host: this.#host, chain }, work);
  }

  /** What a request to the outside carries, so that `rejoin` finds the chain again. */
  token(chain: Chain): string {
    return this.#tokens.issue(chain);
  }

  /** Runs the gateway's code as caused by the chain that a request brought back. Without one that is ours it just runs. */
  rejoin<T>(carrier: CauseCarrier, work: () => T): T {
    const token = tokenIn(carrier);
    const chain = token === undefined ? undefined : this.#tokens.chainOf(token);
    return chain ? this.within(chain, work) : work();
  }
}

const NOWHERE: readonly string[] = Object.freeze([]);
