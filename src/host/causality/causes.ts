/**
 * Trusted side: what caused each run. Every run has a causal chain: the run it began with, its depth, and the handlers in between. The chain
 * follows a plugin's request to the gateway (by AsyncLocalStorage, so the gateway's developer does nothing) and comes back with the runs
 * that the gateway starts there. It travels into a cell as a number, and returns with every request of the handler, also from timers and
 * detached promises. It leaves the process as a token (cause-tokens.ts).
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { FUNCTION_HOOKS } from "../../protocol/messages/functions.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { CauseTokens, tokenIn } from "./cause-tokens.ts";
import type { CauseCarrier, CauseSeal } from "./cause-tokens.ts";
import { RootRuns } from "./root-runs.ts";

export interface Chain {
  readonly rootRunId: string;
  readonly depth: number;
  /** `plugin:hook`, the oldest first. */
  readonly path: readonly string[];
  /** The runs that those handlers were called in, the oldest first. */
  readonly runIds: readonly string[];
  /** The plugin that caused this run; undefined at the root. */
  readonly by: string | undefined;
  /** The client of `creel serve` that made the run; undefined: the gateway in this process, or a job. */
  readonly client: string | undefined;
}

interface Remembered {
  readonly chain: Chain;
  readonly hook: string;
  /** Only timers and detached promises can still act because of it. */
  isOver: boolean;
}

/** A deeper chain than the run's own, which a plugin has joined in or after a run. */
interface Joined {
  readonly chain: Chain;
  readonly untilMs: number;
}

/** The host's scheduler starts these runs, not an event from outside. */
const CLOCKED = FUNCTION_HOOKS.job.name;

interface Current {
  readonly host: string;
  readonly chain: Chain | undefined;
  /** The client whose request is being served. */
  readonly client: string | undefined;
}

const current = new AsyncLocalStorage<Current>();

export class Causes {
  readonly #host: string;
  readonly #roots = new RootRuns(LIMITS.causality.rememberedRuns);
  /** Runs that a plugin has caused, and root runs that last very long. */
  readonly #runs = new Map<number, Remembered>();
  /** Ended runs, in a ring that overwrites the oldest. Runs in flight are never forgotten. */
  readonly #over: number[] = [];
  #nextOver = 0;
  #fresh = 0;
  /** Runs in flight of hooks that must not nest. */
  readonly #open = new Map<string, string>();
  readonly #tokens: CauseSeal;
  /** By plugin and run, the oldest first. */
  readonly #joined = new Map<string, Joined>();
  readonly #now: () => number;

  constructor(host: string, now: () => number = () => performance.now(), tokens: CauseSeal = new CauseTokens()) {
    this.#host = host;
    this.#tokens = tokens;
    this.#now = now;
  }

  /** The chain of a run that starts now. */
  begin(runId: string): Chain {
    const store = current.getStore();
    if (store?.host !== this.#host) return rootOf(runId);
    const { chain = rootOf(runId), client } = store;
    return client === undefined ? chain : { ...chain, client };
  }

  /** Keeps a run's chain for what its handlers do later. */
  remember(run: number, hook: string, chain: Chain): void {
    if (chain.depth > 0 || chain.client !== undefined || chain.rootRunId !== this.#idOf(run)) {
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
    const slot = this.#nextOver++ % LIMITS.causality.rememberedRuns;
    // Not the oldest key of a Map: finding it walks past all keys that were deleted before.
    const oldest = this.#over[slot];
    if (oldest !== undefined) this.#runs.delete(oldest);
    this.#over[slot] = run;
  }

  /** The chain for what a plugin does in, or because of, a run. While it loads (run 0), or when the run was forgotten, a new chain begins. */
  next(run: number, plugin: string): Chain {
    const runId = this.#idOf(run);
    const chain = this.origin(run, plugin);
    const step = `${plugin}:${this.#remembered(run)?.hook ?? (run === 0 ? "load" : "unknown")}`;
    if (!chain) return { rootRunId: `${runId}.${++this.#fresh}`, depth: 1, path: [step], runIds: [runId], by: plugin, client: undefined };
    return {
      rootRunId: chain.rootRunId,
      depth: chain.depth + 1,
      path: [...chain.path, step],
      runIds: [...chain.runIds, runId],
      by: plugin,
      client: chain.client,
    };
  }

  /** The same for a fact; undefined: the run is not remembered, and so caused no others. */
  known(run: number, plugin: string): Chain | undefined {
    return this.#remembered(run) && this.next(run, plugin);
  }

  /** The chain that a plugin's action in, or because of, a run continues: the run's own, or a deeper one that the plugin has joined. */
  origin(run: number, plugin: string): Chain | undefined {
    const known = this.#remembered(run)?.chain;
    if (this.#joined.size === 0) return known;
    const joined = this.#joined.get(`${plugin} ${run}`);
    return joined && joined.untilMs > this.#now() && joined.chain.depth > (known?.depth ?? 0) ? joined.chain : known;
  }

  /**
   * A plugin has read, in or because of a run, a value that it had written in a run of `chain`. For a while its next actions count as caused by
   * that chain, unless another cause is known: an event that the gateway emits is a cause, and so is a patch. What remains are the actions
   * of timers, detached promises and jobs; after an event only for chains that began with it.
   */
  join(run: number, plugin: string, chain: Chain, untilMs: number): void {
    const known = this.#remembered(run);
    if (known && known.hook !== CLOCKED && !(known.isOver && known.chain.rootRunId === chain.rootRunId)) return;
    if (chain.depth <= (this.origin(run, plugin)?.depth ?? 0)) return;
    const key = `${plugin} ${run}`;
    this.#joined.delete(key);
    this.#joined.set(key, { chain, untilMs });
    for (const [old, { untilMs: end }] of this.#joined) {
      if (end > this.#now() && this.#joined.size <= LIMITS.causality.rememberedRuns) break;
      this.#joined.delete(old);
    }
  }

  /** A run of a hook that must not nest begins. */
  opened(runId: string, hook: string): void {
    this.#open.set(runId, hook);
  }

  ended(runId: string): void {
    this.#open.delete(runId);
  }

  /** Is the chain inside a run of this hook that is in flight? What a handler does after its run has ended is not. */
  isInside(hook: string, chain: Chain): boolean {
    return chain.runIds.some((runId) => this.#open.get(runId) === hook);
  }

  /** Runs the gateway's code as caused by a chain. */
  within<T>(chain: Chain, work: () => T): T {
    return current.run({ host: this.#host, chain, client: undefined }, work);
  }

  /** Runs work for a client of `creel serve`: runs that begin there are that client's. */
  servedTo<T>(client: string, work: () => T): T {
    const store = current.getStore();
    return current.run({ host: this.#host, chain: store?.host === this.#host ? store.chain : undefined, client }, work);
  }

  /** The chain of what is being done now; undefined: no plugin has caused it. */
  get current(): Chain | undefined {
    const store = current.getStore();
    return store?.host === this.#host ? store.chain : undefined;
  }

  /** The client whose run or request caused the current work. */
  get client(): string | undefined {
    const store = current.getStore();
    return store?.host === this.#host ? (store.client ?? store.chain?.client) : undefined;
  }

  /** The token that an outgoing request carries, so that `rejoin` finds the chain again. */
  token(chain: Chain): string {
    return this.#tokens.issue(chain);
  }

  /** The token for the current work; undefined: no plugin has caused it. */
  currentToken(): string | undefined {
    const store = current.getStore();
    return store?.host === this.#host && store.chain ? this.token(store.chain) : undefined;
  }

  /** Runs the gateway's code as caused by the chain that a request brought back. Without a token of this host it just runs. */
  rejoin<T>(carrier: CauseCarrier, work: () => T): T {
    const token = tokenIn(carrier);
    const chain = token === undefined ? undefined : this.#tokens.chainOf(token);
    return chain ? this.within(chain, work) : work();
  }
}

const NOWHERE: readonly string[] = Object.freeze([]);

function rootOf(runId: string): Chain {
  return { rootRunId: runId, depth: 0, path: NOWHERE, runIds: NOWHERE, by: undefined, client: undefined };
}
