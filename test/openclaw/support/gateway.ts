/** A gateway of its own: its home, its state, a model, plugins that are installed natively, and Creel's command line beside it. */
import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { folder } from "../../support/files.ts";
import { waitFor } from "./wait-for.ts";
import { GatewayClient } from "./gateway-client.ts";
import { startModel } from "./mock-model.ts";
import type { MockModel } from "./mock-model.ts";

const REPOSITORY = join(import.meta.dirname, "../../..");
const TOKEN = "test-token-123";

export interface Config {
  plugins: { entries?: Record<string, object>; load?: { paths?: string[] } };
}

export class Gateway {
  readonly root = folder({});
  readonly creelDir = join(this.root, "creel");
  readonly #entry: string;
  #model: MockModel | undefined;
  #port = 0;
  #child: ChildProcess | undefined;
  log = "";
  /** Every `creel openclaw` command that was run, as a person types it. */
  readonly commands = new Set<string>();

  constructor(entry: string) {
    this.#entry = entry;
  }

  get configFile(): string {
    return join(this.root, "state/openclaw.json");
  }

  get config(): Config {
    return JSON.parse(readFileSync(this.configFile, "utf8")) as Config;
  }

  get model(): MockModel {
    return this.#model!;
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  async prepare(): Promise<void> {
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
      tools: { toolSearch: false },
      hooks: { internal: { enabled: true } },
      plugins: { enabled: true },
    };
    writeFileSync(this.configFile, JSON.stringify(config, undefined, 2));
  }

  /** Resolves when the gateway says that it is ready. */
  async start(): Promise<void> {
    const mark = this.log.length;
    const args = [this.#entry, "gateway", "run", "--port", String(this.#port), "--bind", "loopback"];
    const child = spawn(process.execPath, args, { env: this.#env(), stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (this.log += data.toString()));
    const tail = (): string => this.log.slice(mark).slice(-2_000);
    await waitFor(() => {
      if (child.exitCode !== null) throw new Error(`the gateway ended: ${tail()}`);
      return /\[gateway\]\S*\s\S*ready\s*\S*$/m.test(this.log.slice(mark)) || undefined;
    }, 150_000).catch((error: unknown) => {
      throw new Error(`the gateway did not start: ${tail()}`, { cause: error });
    });
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
    const words = ["-C", "source", join(REPOSITORY, "src/cli/main.ts"), "openclaw", ...args];
    const options = ["--state-dir", this.creelDir, "--openclaw", this.#entry];
    return promisify(execFile)(process.execPath, [...words, ...options], { env: this.#env(), cwd: this.root, maxBuffer: 2 ** 26 });
  }

  /** The two lines around `creel openclaw policy` that OpenClaw is given as its install policy. */
  policyScript(): string {
    return `#!/bin/sh\nexec "${process.execPath}" -C source "${join(REPOSITORY, "src/cli/main.ts")}" openclaw policy\n`;
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
