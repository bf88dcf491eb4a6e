/**
 * OpenClaw's own command line. Creel reads and changes OpenClaw's configuration through it alone: includes, JSON5 and
 * validation are OpenClaw's business.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { GatewayEntry } from "../../openclaw/gateway-api.ts";
import { CreelError } from "../../protocol/errors.ts";

const TIMEOUT_MS = 120_000;
const MAX_BYTES = 64 * 2 ** 20;
const PATHS = "plugins.load.paths";

/** `plugins` of OpenClaw's configuration, as far as Creel reads it. */
interface PluginSettings {
  readonly entries?: Readonly<Record<string, GatewayEntry>>;
  readonly load?: { readonly paths?: readonly string[] };
  /** By slot, the plugin that OpenClaw uses for it. */
  readonly slots?: Readonly<Record<string, unknown>>;
}

/** One line of `openclaw plugins list --json`, as far as Creel reads it. */
export interface GatewayPlugin {
  readonly id: string;
  readonly version?: string;
  readonly origin: string;
  readonly rootDir?: string;
  readonly enabled: boolean;
  readonly status?: string;
}

export class GatewayCommand {
  readonly #words: readonly [string, ...string[]];
  #settings: Promise<PluginSettings> | undefined;

  /**
   * `given`: the executable, or the `openclaw.mjs` to run with this Node. Default: OPENCLAW_BIN, then `openclaw` on the
   * PATH.
   */
  constructor(given: string | undefined) {
    const command = given ?? process.env.OPENCLAW_BIN ?? "openclaw";
    this.#words = /\.[cm]?js$/.test(command) ? [process.execPath, command] : [command];
  }

  async plugins(): Promise<GatewayPlugin[]> {
    const { plugins } = JSON.parse(await this.#run("plugins", "list", "--json")) as { plugins: GatewayPlugin[] };
    return plugins;
  }

  /** Undefined: it is not set. */
  async #get(path: string): Promise<unknown> {
    try {
      return JSON.parse(await this.#run("config", "get", path, "--json")) as unknown;
    } catch (error) {
      if (error instanceof CreelError && /unset|not found/i.test(String(error.params.detail))) return undefined;
      throw error;
    }
  }

  /** As they are now: another program may have changed them since `settings` was read. */
  async loadPaths(): Promise<string[]> {
    const paths = await this.#get(PATHS);
    return Array.isArray(paths) ? paths.map(String) : [];
  }

  /** Each command of OpenClaw's takes seconds, so it is asked once. */
  settings(): Promise<PluginSettings> {
    this.#settings ??= this.#get("plugins").then((found) => Object(found ?? {}) as PluginSettings);
    return this.#settings;
  }

  async setLoadPaths(paths: readonly string[]): Promise<void> {
    await this.#run("config", "set", PATHS, JSON.stringify(paths), "--strict-json");
  }

  /** Calls a method of the running gateway. */
  async call(method: string): Promise<unknown> {
    return JSON.parse(await this.#run("gateway", "call", method, "--json")) as unknown;
  }

  async #run(...args: string[]): Promise<string> {
    const [file, ...words] = this.#words;
    try {
      const options = { timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES, env: { ...process.env, NO_COLOR: "1" } };
      return (await promisify(execFile)(file, [...words, ...args], options)).stdout;
    } catch (error) {
      const { stdout = "", stderr = "", message } = error as { stdout?: string; stderr?: string; message: string };
      const detail = (stdout.trim() || stderr.trim() || message).split("\n").slice(0, 8).join(" ").slice(0, 600);
      throw new CreelError("ERR_OPENCLAW_COMMAND", { command: args.join(" "), detail });
    }
  }
}
