/** A gateway for one call: opens a host with the given plugins, runs a hook and reports what the plugins log. */
import { dirname, resolve } from "node:path";
import { readConfig } from "../../discovery/config-file.ts";
import type { PluginSpec } from "../../discovery/plugin-spec.ts";
import { openHostWith } from "../../sdk/open-host.ts";
import type { CoreHost } from "../../host/host.ts";
import type { InspectOptions } from "../../host/inspect/inspector.ts";
import type { InspectSession } from "../../host/inspect/session.ts";
import type { Facts } from "../../host/report/events.ts";
import { wallsWarning } from "../../host/supervisor/launch/walls-report.ts";
import { findPlugin } from "../../discovery/manifest.ts";
import type { PluginReport } from "../../host/report/inspect.ts";
import type { ApprovalDecision } from "../../protocol/hooks/tool.ts";
import type { FunctionOutcome } from "../../protocol/messages/functions.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { folded } from "../ui/fold.ts";
import { stated } from "../../install/review/requested-permissions.ts";
import type { PluginManifest } from "../../protocol/config/config.ts";
import { permissionFault } from "../../protocol/config/permission-key.ts";
import { UsageError } from "../options.ts";
import type { CallInput } from "./input.ts";
import type { FunctionCall } from "./target.ts";
import { silentLogger } from "../../host/report/silent-logger.ts";

export interface CallerOptions {
  /** Paths of plugins. */
  readonly plugins: readonly string[];
  /** A creel.json; its plugins, and those that are installed, are called too. */
  readonly config: string | undefined;
  /** The state folder, if it is not the one of the configuration or the environment. */
  readonly stateDir?: string | undefined;
  /** Permission keys for the plugins that are named by their paths; `requested`: what the manifest of each requests. */
  readonly permissions?: readonly string[] | undefined;
  readonly isolation: "process" | "thread";
  /** The user's answer when a plugin asks for approval; undefined: there is no user. */
  readonly approval: ApprovalDecision | undefined;
  /** A debugger for the first of the plugins: one that connects, or one of this process. */
  readonly inspect?: Omit<InspectOptions, "plugin"> & { readonly session?: InspectSession };
  /** The heap of that plugin, instead of its own limit. */
  readonly heapMb?: number;
  /** Receives what plugins log. */
  readonly log: (line: Facts["log"]) => void;
}

export class Caller implements AsyncDisposable {
  readonly #host: CoreHost;
  /** Ids of the plugins that were named by their paths. */
  readonly named: readonly string[];

  static async open(options: CallerOptions): Promise<Caller> {
    const { plugins, config: path, stateDir, permissions = [], isolation, approval, inspect, heapMb, log } = options;
    // Authors who call their own plugin provide the conversation themselves. A configuration says what is allowed.
    const hooks = path === undefined ? { hooks: { allowConversationAccess: true, allowInstallDecisions: true } } : {};
    const manifests = await Promise.all(plugins.map(async (plugin) => (await findPlugin(plugin)).manifest));
    const named = manifests.map(({ id }) => id);
    const specs: PluginSpec[] = plugins.map((plugin, at) => ({ path: plugin, ...hooks, ...given(permissions, manifests[at]!) }));
    const config = await readConfig(path);
    const { session, ...door } = inspect ?? {};
    const inspected = named[0] ?? "";
    const host = await openHostWith(
      {
        isolation,
        lanes: 1,
        // Plugins that did not load are reported, and have a line in the outcome.
        allowFailed: true,
        // There is only one call, so a spare process would be wasted.
        config: { ...config, sandbox: { ...config.sandbox, spare: false } },
        plugins: specs,
        gateway: approval === undefined ? {} : { requestApproval: async () => approval },
        logger: silentLogger,
        ...(inspect && { inspect: { plugin: inspected, ...door } }),
      },
      {
        ...(session && { inspectSession: session }),
        ...(heapMb !== undefined && {
          revise: (found) => (found.id === inspected ? { ...found, limits: { ...found.limits, heapMb } } : found),
        }),
        // A plugin that does not load is reported before the call.
        isEager: true,
        // Plugins that were named are tried out alone.
        isBare: path === undefined && stateDir === undefined && plugins.length > 0,
        ...(path !== undefined && { base: dirname(resolve(path)) }),
        ...(stateDir !== undefined && { stateDir: resolve(stateDir) }),
      },
    );
    const caller = new Caller(host, named);
    host.on("log", log);
    return caller;
  }

  private constructor(host: CoreHost, named: readonly string[]) {
    this.#host = host;
    this.named = named;
  }

  /** The plugins that did not load. */
  failures(): { readonly report: PluginReport; readonly isNamed: boolean }[] {
    return this.#host
      .plugins()
      .filter(({ error }) => error !== undefined)
      .map((report) => ({ report, isNamed: this.named.includes(report.id) }));
  }

  /** What the plugins registered and the host did not accept. */
  remarks(): { readonly plugin: string; readonly remark: string }[] {
    return this.#host.plugins().flatMap(({ id, diagnostics }) => folded(diagnostics).map((remark) => ({ plugin: id, remark })));
  }

  /** The warning about missing walls; undefined: they are on, or not required. */
  wallsWarning(): string | undefined {
    return wallsWarning(this.#host.walls());
  }

  /** Resolves when the log lines of the call have arrived, too. */
  async call({ hook, event, ctx }: CallInput): Promise<Outcome> {
    const outcome = await this.#host.run(hook, event, ctx);
    await this.#host.logsArrived();
    return outcome;
  }

  /** Calls a function that a plugin has declared. */
  async callFunction({ target, argument }: FunctionCall): Promise<FunctionOutcome> {
    const outcome = await this.#host.call(target, argument);
    await this.#host.logsArrived();
    return outcome;
  }

  /** What the operator would see of the first plugin that was named. */
  report(): PluginReport {
    return this.#host.inspect(this.named[0]!);
  }

  /** Bundles and loads the named plugins again. Failures of the previous version do not count against the new one. */
  async reload(): Promise<void> {
    for (const id of this.named) {
      await this.#host.release(id);
      await this.#host.reload(id);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host.close();
  }
}

function given(keys: readonly string[], { permissions = {} }: PluginManifest): Pick<PluginSpec, "permissions"> {
  if (keys.length === 0) return {};
  const all = keys.flatMap((key) => (key === "requested" ? stated(permissions).map((one) => one.key) : key));
  const fault = all.flatMap((key) => permissionFault(key) ?? [])[0];
  if (fault !== undefined) throw new UsageError(fault, 'see "creel help permissions" for how they are written');
  return { permissions: all };
}
