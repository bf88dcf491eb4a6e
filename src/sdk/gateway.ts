/** Trusted side: the gateway's SDK. Puts the catalog's types on the host, and chooses where its lanes live. */
import { CATALOG } from "../protocol/catalog.ts";
import type { AnyHook, Catalog, ContextOf, EventOf, HookTable, NamesOfKind, ResultOf } from "../protocol/catalog.ts";
import { CreelError } from "../protocol/errors.ts";
import type { CreelConfig } from "../protocol/config.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Outcome } from "../protocol/outcome.ts";
import type { RememberedApproval } from "../host/approvals.ts";
import type { CauseCarrier } from "../host/cause-tokens.ts";
import type { SessionEntry, SessionPatch } from "../host/services/session.ts";
import type { FactName, Facts } from "../host/events.ts";
import { guestCode } from "../host/guest-code.ts";
import { CoreHost } from "../host/host.ts";
import type { RunOptions } from "../host/host.ts";
import type { FunctionCallOptions, FunctionTarget } from "../host/function-calls.ts";
import type { DeclaredFunction } from "../host/functions.ts";
import type { ServiceReport } from "../host/plugin-services.ts";
import type { FunctionOutcome } from "../protocol/functions.ts";
import type { PluginReport } from "../host/inspect.ts";
import { startProcessUnit } from "../host/lanes/process-unit.ts";
import { buildWalls } from "../host/lanes/machine.ts";
import type { StartUnit } from "../host/lanes/unit.ts";
import { resolveOptions } from "./options.ts";
import { joinHost } from "./remote-host.ts";
import type { InnerOptions, OpenOptions } from "./options.ts";
import { startThreadUnit } from "./thread-unit.ts";
import { runTurn } from "./turn.ts";
import type { ExecuteTurn, TurnContext, TurnHost, TurnOptions, TurnOutcome } from "./turn.ts";

/** `T` is the table of hooks this host knows: the catalog's, and the gateway's own. */
export interface Host<T extends HookTable = Catalog> extends AsyncDisposable {
  readonly id: string;
  /** Runs a hook. Rejects only for the caller's own mistakes: unknown hook, invalid event, closed host, aborted signal. */
  run<N extends keyof T & string>(
    hook: N,
    event: EventOf<T[N]>,
    ctx?: ContextOf<T[N]>,
    options?: RunOptions,
  ): Promise<Outcome<ResultOf<T[N]>>>;
  /** Observe hooks: returns at once, never throws. */
  emit<N extends NamesOfKind<T, "observe">>(hook: N, event: EventOf<T[N]>, ctx?: ContextOf<T[N]>): void;
  /** The sync kind: blocks the caller for at most the handlers' budgets. */
  runSync<N extends NamesOfKind<T, "sync">>(hook: N, event: EventOf<T[N]>, ctx?: ContextOf<T[N]>): Outcome<ResultOf<T[N]>>;
  /** False: nobody listens, and `run` costs next to nothing. */
  has(hook: keyof T & string): boolean;
  /** Wraps a turn of the gateway's with beforeTurn, afterTurn and onTurnError. */
  turn<V>(ctx: TurnContext, execute: ExecuteTurn<V>, options?: TurnOptions): Promise<TurnOutcome<V>>;
  /** Patches a session through the gateway's `patchSession` and, once that has succeeded, emits `session:patch`. */
  patchSession(patch: SessionPatch): Promise<SessionEntry>;
  /**
   * For what a server asks of the gateway over HTTP because a plugin called it: runs `work` as that plugin's doing, so that a loop
   * is found. `headers` are the request's; without a token of this host in them `work` just runs. Gives what `work` gives.
   */
  rejoin<V>(headers: CauseCarrier, work: () => V): V;
  /** What `rejoin` takes, for what is being done now; undefined: no plugin has caused it. For a gateway that hands its work to another process. */
  causeToken(): string | undefined;
  /** What users have allowed for always; `revokeApproval` makes the host ask again. */
  approvals(): RememberedApproval[];
  revokeApproval(approval: RememberedApproval): boolean;
  plugins(): PluginReport[];
  inspect(plugin: string): PluginReport;
  /**
   * Loads the plugin again, as it is now; one that is installed with the lock's entry of now. Until the new version has loaded, and if it does
   * not, runs meet the old one: then the report says `ready`, and `error` why. What was begun with the old version is finished there.
   */
  reload(plugin: string): Promise<PluginReport>;
  disable(plugin: string): void;
  /** Lets a plugin out of quarantine: it starts afresh, as if it had never failed. */
  release(plugin: string): Promise<PluginReport>;
  /** What plugins have declared for agents and users. Of two with one name the plugin that comes first has it; `inspect` tells the other. */
  tools(): DeclaredFunction<"tool">[];
  commands(): DeclaredFunction<"command">[];
  /** Methods that plugins add to the gateway. What one answers is `{ ok, payload, error }`. */
  methods(): DeclaredFunction<"method">[];
  /** Work in the background that plugins have; the host starts and stops it. */
  services(): ServiceReport[];
  /** Calls a tool with its parameters, a command with its text, a method with its parameters. Rejects only for the caller's own mistakes. */
  call(target: FunctionTarget, argument?: unknown, options?: FunctionCallOptions): Promise<FunctionOutcome>;
  /** Gives the function that ends the subscription. */
  on<K extends FactName>(fact: K, listener: (fact: Facts[K]) => void): () => void;
  /** Process ids of the sandbox; empty with thread isolation. */
  pids(): number[];
  /** Lets runs in flight finish, then ends the sandbox. */
  close(): Promise<void>;
}

export function openHost<Own extends HookTable = {}>(options: OpenOptions<Own> = {}): Promise<Host<Catalog & Own>> {
  if (options.connect !== undefined) return joinHost(options);
  return openHostWith(options, {});
}

export async function openHostWith<Own extends HookTable = {}>(
  options: OpenOptions<Own>,
  inner: InnerOptions,
): Promise<Host<Catalog & Own>> {
  const { isolation, lanes, config, stateDir, plugins, find, secrets, logger } = await resolveOptions(options, inner);
  const core = new CoreHost({
    lanes,
    lanesPerUnit: isolation === "process" ? lanes : 1,
    startUnit: isolation === "process" ? await processUnits(config.sandbox, lanes) : startThreadUnit,
    hooks: options.rewrites === "isolated" ? isolated(withOwn(options.hooks ?? {})) : withOwn(options.hooks ?? {}),
    failure: config.hooks?.failure ?? {},
    hasInternal: config.hooks?.internal?.enabled !== false,
    hasSpare: isolation === "process" && config.sandbox?.spare !== false,
    memoryBytes: (config.sandbox?.memoryMb ?? LIMITS.sandboxMb) * 2 ** 20,
    gateway: options.gateway ?? {},
    allowOnTimeout: config.approvals?.plugin?.allowOnTimeout === true,
    stateDir,
    audit: config.audit,
    network: inner.network,
    find,
    secrets,
    logger,
  });
  try {
    await core.open(plugins);
  } catch (error) {
    await core.close();
    throw error;
  }
  const host = core as unknown as Host<Catalog & Own> & TurnHost;
  return Object.assign(host, {
    turn: <V>(ctx: TurnContext, execute: ExecuteTurn<V>, turnOptions?: TurnOptions) => runTurn(host, ctx, execute, turnOptions),
    [Symbol.asyncDispose]: () => core.close(),
  });
}

/** The walls are tried while the guest's code is bundled: both take a moment, once per process. */
async function processUnits(config: CreelConfig["sandbox"], lanes: number): Promise<StartUnit> {
  const [walls] = await Promise.all([buildWalls(config, lanes), guestCode()]);
  return (count) => startProcessUnit(count, walls);
}

function withOwn(own: HookTable): HookTable {
  const table: Record<string, AnyHook> = Object.assign(Object.create(null), CATALOG);
  for (const hook of Object.values(own)) {
    if (Object.hasOwn(table, hook.name)) throw new CreelError("ERR_HOOK_DEFINED", { hook: hook.name });
    table[hook.name] = hook;
  }
  return table;
}

/** OpenClaw's behaviour where Creel chose another: every handler sees the original, the last rewrite wins. */
function isolated(hooks: HookTable): HookTable {
  return Object.fromEntries(Object.entries(hooks).map(([name, hook]) => [name, { ...hook, merge: isolatedMerge(hook) }]));
}

function isolatedMerge({ merge }: AnyHook): AnyHook["merge"] {
  const fields = Object.entries(merge).map(([field, rule]) => {
    if (!rule.isolated) return [field, rule];
    const { chains: _, ...rest } = rule;
    return [field, { ...rest, rule: rule.isolated }];
  });
  return Object.fromEntries(fields) as AnyHook["merge"];
}
