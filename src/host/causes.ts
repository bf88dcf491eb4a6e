/**
 * Trusted side: who caused what. Every run has a chain: the run it began with, how deep it is, and which handlers lie between.
 * A chain follows a plugin's question to the gateway (AsyncLocalStorage, so the gateway developer does nothing), comes back
 * with the run that the gateway starts there, and travels as a number into the cell and out again with whatever a handler does
 * later, in timers and detached promises too. Out of the process it goes as a token (cause-tokens.ts).
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { FUNCTION_HOOKS } from "../protocol/functions.ts";
import { LIMITS } from "../protocol/limits.ts";
import { CauseTokens, tokenIn } from "./cause-tokens.ts";
import type { CauseCarrier } from "./cause-tokens.ts";
import { RootRuns } from "./root-runs.ts";

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
  /** What is done because of it now is done by timers and detached promises. */
  isOver: boolean;
}

/** What a plugin has learnt, in or after a run, of a deeper chain than the run's own. */
interface Joined {
  readonly chain: Chain;
  readonly untilMs: number;
}

/** A clock of the host's starts these, and no event from outside. */
const CLOCKED = FUNCTION_HOOKS.job.name;

const current = new AsyncLocalStorage<{ readonly host: string; readonly chain: Chain }>();

export class Causes {
  readonly #host: string;
  readonly #roots = new RootRuns(LIMITS.rememberedRuns);
  /** Those that a plugin has caused, and those among the roots that go on for very long. */
  readonly #runs = new Map<number, Remembered>();
  /** Runs that are over, in a ring: the oldest gives way. Those that go on are not forgotten. */
  readonly #over: number[] = [];
  #nextOver = 0;
  #fresh = 0;
  /** Runs that go on, of hooks that are not run inside themselves. */
  readonly #open = new Map<string, string>();
  readonly #tokens = new CauseTokens();
  /** By plugin and run, the oldest first. */
  readonly #joined = new Map<string, Joined>();
  readonly #now: () => number;

  constructor(host: string, now: () => number = () => performance.now()) {
    this.#host = host;
    this.#now = now;
  }

  /** The chain of a run that starts now. */
  begin(runId: string): Chain {
    const store = current.getStore();
    return store?.host === this.#host ? store.chain : rootOf(runId);
  }

  /** Keeps a run's chain for what its handlers do later. */
  remember(run: number, hook: string, chain: Chain): void {
    if (chain.depth > 0 || chain.rootRunId !== this.#idOf(run)) {
      this.#runs.set(run, { chain, hook, isOver: false });
      return;
    }
    const displaced = this.#roots.add(run, hook);
    if (displaced) this.#runs.set(displaced.run, { ...displaced, chain: rootOf(this.#idOf(displaced.run)) });
  }

  #remembered(run: number): Readonly<Remembered> | undefined {
    const root = this.#roots.get(run);
    return root ? { ...root, chain: rootOf(this.#idOf(run)) } : this.#runs.get(run);
  }

  #idOf(run: number): string {
    return `${this.#host}-${run}`;
  }

  /** A run is over. What its handlers left behind (timers, detached promises) may go on. */
  finished(run: number): void {
    if (this.#roots.finished(run)) return;
    const ended = this.#runs.get(run);
    if (!ended) return;
    ended.isOver = true;
    const slot = this.#nextOver++ % LIMITS.rememberedRuns;
    // Not a Map's oldest key: to find that takes a walk past all that were deleted before it.
    const oldest = this.#over[slot];
    if (oldest !== undefined) this.#runs.delete(oldest);
    this.#over[slot] = run;
  }

  /** The chain of something that a plugin does in, or because of, a run. While loading (run 0), or when the run was forgotten, it is a new one. */
  next(run: number, plugin: string): Chain {
    const runId = this.#idOf(run);
    const chain = this.origin(run, plugin);
    const step = `${plugin}:${this.#remembered(run)?.hook ?? (run === 0 ? "load" : "unknown")}`;
    if (!chain) return { rootRunId: `${runId}.${++this.#fresh}`, depth: 1, path: [step], runIds: [runId], by: plugin };
    return {
      rootRunId: chain.rootRunId,
      depth: chain.depth + 1,
      path: [...chain.path, step],
      runIds: [...chain.runIds, runId],
      by: plugin,
    };
  }

  /** The chain that what a plugin does in, or because of, a run goes on from: the run's own, or a deeper one that it has joined. */
  origin(run: number, plugin: string): Chain | undefined {
    const known = this.#remembered(run)?.chain;
    if (this.#joined.size === 0) return known;
    const joined = this.#joined.get(`${plugin} ${run}`);
    return joined && joined.untilMs > this.#now() && joined.chain.depth > (known?.depth ?? 0) ? joined.chain : known;
  }

  /**
   * A plugin has read, in or because of a run, what it had written in a run of that chain. What it does next counts as caused by that, for
   * a while, if nothing else is known to have caused it: an event that the gateway emits is a cause of its own, and so is a patch, whatever is read meanwhile.
   * What remains is what timers, detached promises and jobs do; after an event only for chains that began with it.
   */
  join(run: number, plugin: string, chain: Chain, untilMs: number): void {
    const known = this.#remembered(run);
    if (known && known.hook !== CLOCKED && !(known.isOver && known.chain.rootRunId === chain.rootRunId)) return;
    if (chain.depth <= (this.origin(run, plugin)?.depth ?? 0)) return;
    const key = `${plugin} ${run}`;
    this.#joined.delete(key);
    this.#joined.set(key, { chain, untilMs });
    for (const [old, { untilMs: end }] of this.#joined) {
      if (end > this.#now() && this.#joined.size <= LIMITS.rememberedRuns) break;
      this.#joined.delete(old);
    }
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

  /** The token of what is being done now; undefined: no plugin has caused it. */
  currentToken(): string | undefined {
    const store = current.getStore();
    return store?.host === this.#host ? this.token(store.chain) : undefined;
  }

  /** Runs the gateway's code as caused by the chain that a request brought back. Without one that is ours it just runs. */
  rejoin<T>(carrier: CauseCarrier, work: () => T): T {
    const token = tokenIn(carrier);
    const chain = token === undefined ? undefined : this.#tokens.chainOf(token);
    return chain ? this.within(chain, work) : work();
  }
}

const NOWHERE: readonly string[] = Object.freeze([]);

function rootOf(runId: string): Chain {
  return { rootRunId: runId, depth: 0, path: NOWHERE, runIds: NOWHERE, by: undefined };
}
