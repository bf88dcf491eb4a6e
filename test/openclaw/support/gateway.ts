/** A gateway of its own: its home, its state, a model, plugins that are installed natively, and Creel's command line beside it. */
import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { waitFor } from "./wait-for.ts";
import { GatewayClient } from "./gateway-client.ts";
import { startModel } from "./mock-model.ts";
import type { MockModel } from "./mock-model.ts";

const REPOSITORY = join(import.meta.dirname, "../../..");
const MAIN = join(REPOSITORY, "src/cli/main.ts");
const TOKEN = "test-token-123";
/** A busy machine takes ten times as long as a quiet one. */
export const LONG = 300_000;

export interface Config {
  plugins: { entries?: Record<string, PluginSettings>; load?: { paths?: string[] } };
}

export interface PluginSettings {
  enabled: boolean;
  hooks?: object;
  config?: Record<string, string>;
}

export class Gateway {
  readonly root: string;
  readonly #entry: string;
  /** How Creel is started. */
  readonly #creel: readonly string[];
  #model: MockModel | undefined;
  #port = 0;
  #child: ChildProcess | undefined;
  log = "";
  /** Every `creel openclaw` command that was run, as a person types it. */
  readonly commands = new Set<string>();

  /** `root`: an empty folder for everything that it keeps. */
  constructor(entry: string, root: string, creel: readonly string[] = ["-C", "source", MAIN]) {
    this.#entry = entry;
    this.root = root;
    this.#creel = creel;
  }

  get configFile(): string {
    return join(this.root, "state/openclaw.json");
  }

  get config(): Config {
    return JSON.parse(readFileSync(this.configFile, "utf8")) as Config;
  }

  /** Everything that the model was sent, as text. */
  get modelRequests(): readonly string[] {
    return this.#model!.requests;
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  /** `toolSearch`: OpenClaw's own default, by which models find plugins' tools by a search. */
  async prepare({ toolSearch = false } = {}): Promise<void> {
    this.#model = await startModel();
    this.#port = await freePort();
    for (const name of ["home", "state", "ws"]) mkdirSync(join(this.root, name));
    const model = { id: "mock-1", name: "Mock", reasoning: false, input: ["text"], contextWindow: 120_000, maxTokens: 4_096 };
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const provider = { baseUrl: `http://127.0.0.1:${this.#model.port}/v1`, apiKey: "sk-local", api: "openai-completions" };
    const config = {
      gateway: { mode: "local", bind: "loopback", port: this.#port, auth: { mode: "token", token: TOKEN } },
      agents: { defaults: { workspace: join(this.root, "ws"), model: { primary: "mock/mock-1" }, skipBootstrap: true } },
      models: { mode: "replace", providers: { mock: { ...provider, models: [{ ...model, cost }] } } },
      ...(!toolSearch && { tools: { toolSearch } }),
      hooks: { internal: { enabled: true } },
      plugins: { enabled: true },
    };
    this.#write(config);
  }

  /** Changes its configuration as an editor does; a running gateway takes it over by itself. */
  edit(change: (config: Config) => void): void {
    const { config } = this;
    change(config);
    this.#write(config);
  }

  /** Resolves when the gateway has taken over what `work` changed. */
  async reload(work: () => unknown): Promise<void> {
    const mark = this.log.length;
    await work();
    await waitFor(
      () => {
        const failed = /config reload failed: .*/.exec(this.log.slice(mark))?.[0];
        if (failed !== undefined) throw new Error(failed);
        return /hot reload applied/.exec(this.log.slice(mark))?.[0];
      },
      LONG,
      "the reload",
    );
  }

  /**
   * Resolves when no plugin is being loaded. A gateway that is killed before leaves a lease of five minutes behind, with or
   * without Creel, and the next one waits for its end without a word.
   */
  async isSettled(): Promise<void> {
    using state = new DatabaseSync(join(this.root, "state/state/openclaw.sqlite"), { readOnly: true });
    const lease = state.prepare("select 1 from state_leases where scope = 'core:plugin-lifecycle'");
    await waitFor(() => (lease.get() === undefined ? true : undefined), LONG, "the end of the plugins' lease");
  }

  /** What OpenClaw keeps about the machine, as JSON. */
  machineState(key: string): string {
    using state = new DatabaseSync(join(this.root, "state/state/openclaw.sqlite"), { readOnly: true });
    return JSON.stringify(state.prepare("select value_json from config_machine_state where state_key = ?").get(key) ?? null);
  }

  /** Resolves when the gateway says that it is ready. On a very busy machine OpenClaw gives up on its own start after 5 s: then again. */
  async start(tries = 5): Promise<void> {
    const mark = this.log.length;
    const args = [this.#entry, "gateway", "run", "--port", String(this.#port), "--bind", "loopback"];
    // The log then says how long each plugin took to load.
    const env = { ...this.#env(), OPENCLAW_DIAGNOSTICS: "plugin.load-profile" };
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (this.log += data.toString()));
    try {
      await this.isReady(mark, () => {
        if (child.exitCode !== null) throw new Error("it ended");
      });
    } catch (error) {
      const said = this.log.slice(mark);
      if (tries > 1 && /state lease heartbeat did not become ready/.test(said)) return this.start(tries - 1);
      throw new Error(`the gateway did not start: ${said.slice(-2_000)}`, { cause: error });
    }
  }

  /** Resolves when the gateway has said that it is ready, since the log had so many characters. */
  async isReady(mark: number, check = (): void => {}): Promise<void> {
    await waitFor(
      () => {
        check();
        // "spawn broker ready" comes before.
        return /\[gateway\]\S*\s\S*ready\s*\S*$/m.test(this.log.slice(mark)) || undefined;
      },
      LONG,
      "the gateway",
    );
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }

  async close(): Promise<void> {
    await this.kill("SIGKILL");
    this.#model?.server.close();
  }

  async client(): Promise<GatewayClient> {
    const client = new GatewayClient(this.#port);
    await client.connect(TOKEN);
    return client;
  }

  openclaw(...args: string[]): Promise<{ stdout: string; stderr: string }> {
    return promisify(execFile)(process.execPath, [this.#entry, ...args], { env: this.#env(), maxBuffer: 2 ** 26 });
  }

  /** Creel's command line; fails as a command does. */
  creel(...args: string[]): Promise<{ stdout: string; stderr: string }> {
    this.commands.add(
      `creel openclaw ${args.filter((word, at) => word !== "--json" && word !== "--accept" && args[at - 1] !== "--accept").join(" ")}`,
    );
    return this.#run(this.#entry, args);
  }

  /** The same, but it is killed as soon as it has asked OpenClaw to change its configuration. */
  async creelKilled(...args: string[]): Promise<void> {
    const wrapper = join(this.root, "killing-openclaw.mjs");
    writeFileSync(
      wrapper,
      `import { spawnSync } from "node:child_process";
const args = process.argv.slice(2);
const isChange = args[0] === "config" && args[1] === "set";
if (isChange) process.kill(process.ppid, "SIGKILL");
process.exit(spawnSync(process.execPath, [${JSON.stringify(this.#entry)}, ...args], { stdio: isChange ? "ignore" : "inherit" }).status);
`,
    );
    const { signal } = await this.#run(wrapper, args).then(
      () => ({ signal: undefined }),
      (error: { signal?: string }) => error,
    );
    if (signal !== "SIGKILL") throw new Error(`creel was not killed, but ended with ${signal}`);
  }

  #run(openclaw: string, args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
    const words = [...this.#creel, "openclaw", ...args, "--state-dir", join(this.root, "creel"), "--openclaw", openclaw];
    return promisify(execFile)(process.execPath, words, { env: this.#env(), cwd: this.root, maxBuffer: 2 ** 26 });
  }

  /** The two lines around `creel openclaw policy` that OpenClaw is given as its install policy. */
  policyScript(): string {
    return `#!/bin/sh\nexec "${process.execPath}" ${this.#creel.map((word) => `"${word}"`).join(" ")} openclaw policy\n`;
  }

  /** Calls a tool without a model. */
  async invoke(tool: string, args: object): Promise<{ ok: boolean; result?: unknown; error?: { message: string } }> {
    const response = await fetch(`http://127.0.0.1:${this.#port}/tools/invoke`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ tool, args, sessionKey: "main" }),
    });
    return (await response.json()) as never;
  }

  /** With the gateway's token. */
  get(path: string): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.#port}${path}`, { headers: { authorization: `Bearer ${TOKEN}` } });
  }

  /** In one step, so that the gateway never reads half of it. */
  #write(config: object): void {
    const fresh = join(dirname(this.configFile), ".openclaw.json.new");
    writeFileSync(fresh, JSON.stringify(config, undefined, 2));
    renameSync(fresh, this.configFile);
  }

  #env(): NodeJS.ProcessEnv {
    const { PATH } = process.env;
    return {
      PATH,
      HOME: join(this.root, "home"),
      OPENCLAW_STATE_DIR: join(this.root, "state"),
      OPENCLAW_CONFIG_PATH: this.configFile,
      OPENCLAW_GATEWAY_TOKEN: TOKEN,
      OPENCLAW_SKIP_CHANNELS: "1",
      NO_COLOR: "1",
    };
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
