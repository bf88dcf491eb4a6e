/** A gateway of one call: opens a host with the plugins that were named, runs a hook, tells what they log. */
import { dirname, resolve } from "node:path";
import { readConfig } from "../../sdk/config-file.ts";
import type { PluginSpec } from "../../sdk/options.ts";
import { accompanied, COURIER, COURIER_HOOKS } from "../../sdk/courier.ts";
import { openHostWith } from "../../sdk/gateway.ts";
import type { Host } from "../../sdk/gateway.ts";
import type { ApprovalDecision } from "../../host/approvals.ts";
import type { Facts } from "../../host/events.ts";
import { findPlugin } from "../../host/manifest.ts";
import type { PluginReport } from "../../host/inspect.ts";
import type { Catalog } from "../../protocol/catalog.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { CallInput } from "./input.ts";

export interface CallerOptions {
  /** Paths of plugins. */
  readonly plugins: readonly string[];
  /** A creel.json; its plugins, and those that are installed, are called too. */
  readonly config: string | undefined;
  /** Where plugins are installed, instead of what configuration and environment say. */
  readonly stateDir?: string | undefined;
  readonly isolation: "process" | "thread";
  /** What the user says when a plugin wants a tool call approved; undefined: there is nobody to ask. */
  readonly approval: ApprovalDecision | undefined;
  /** Told what plugins log. */
  readonly log: (line: Facts["log"]) => void;
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

export class Caller implements AsyncDisposable {
  readonly #host: Host<Catalog & typeof COURIER_HOOKS>;
  /** Ids of the plugins that were named by their paths. */
  readonly #named: readonly string[];

  static async open({ plugins, config: path, stateDir, isolation, approval, log }: CallerOptions): Promise<Caller> {
    // Whoever calls a plugin of their own brings the conversation along. Where there is a configuration, it says what is allowed.
    const hooks = path === undefined ? { hooks: { allowConversationAccess: true } } : {};
    const specs: PluginSpec[] = plugins.map((plugin) => ({ path: plugin, ...hooks }));
    const named = await Promise.all(plugins.map(async (plugin) => (await findPlugin(plugin)).manifest.id));
    const config = await readConfig(path);
    const host = await openHostWith(
      {
        isolation,
        lanes: 1,
        // Nobody waits for a second call: a process that is kept warm for it would be in vain.
        config: { ...config, sandbox: { ...config.sandbox, spare: false } },
        plugins: [...specs, COURIER],
        hooks: COURIER_HOOKS,
        gateway: approval === undefined ? {} : { requestApproval: async () => approval },
        logger: silent,
      },
      {
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

  private constructor(host: Host<Catalog & typeof COURIER_HOOKS>, named: readonly string[]) {
    this.#host = host;
    this.#named = named;
  }

  /** Of those that were named, and of all others that would have been called, the ones that did not load. */
  failures(): { readonly report: PluginReport; readonly isNamed: boolean }[] {
    return this.#host
      .plugins()
      .filter(({ error }) => error !== undefined)
      .map((report) => ({ report, isNamed: this.#named.includes(report.id) }));
  }

  /** What was not accepted of what the plugins registered. */
  remarks(): { readonly plugin: string; readonly remark: string }[] {
    return this.#host.plugins().flatMap(({ id, diagnostics }) => diagnostics.map((remark) => ({ plugin: id, remark })));
  }

  call({ hook, event, ctx }: CallInput): Promise<Outcome> {
    return accompanied(this.#host, this.#host.run(hook, event as never, ctx as never));
  }

  /** Bundles the named plugins again, and loads them. What the version before did wrong does not count against this one. */
  async reload(): Promise<void> {
    for (const id of this.#named) {
      await this.#host.release(id);
      await this.#host.reload(id);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host.close();
  }
}
