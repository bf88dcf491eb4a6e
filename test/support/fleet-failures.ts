/**
 * What a gateway sees of a fleet that fails: hosts in processes of their own on a real NATS server, gates in flight, and then a death, a halt
 * or a cut. Half of the gates must be blocked by the plugin. `scripts/fleet-failures.ts` prints the table.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openHost } from "creel";
import type { Host, OpenOptions, PluginSpec } from "creel";
import { makeSigningKey } from "../../src/fleet/control/signature.ts";
import type { FleetSettings } from "../../src/fleet/settings.ts";
import { keysOf, Nats } from "./nats.ts";
import type { Keys } from "./nats.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const HOST = fileURLToPath(new URL("./fleet-host.ts", import.meta.url));

/** Blocks odd numbers, after a while. Says which attempt it is. */
const GUARD: PluginSpec = {
  id: "guard",
  source: `export default (api) => api.on("before_tool_call", async ({ params }, ctx) => {
    if (params.holdMs > 0) await new Promise((resolve) => setTimeout(resolve, params.holdMs));
    if (params.n % 2 === 1) return { block: true, blockReason: "odd, attempt " + (ctx.attempt ?? 1) };
    return { params: { ...params, attempt: ctx.attempt ?? 1 } };
  });`,
};

export interface Figures {
  readonly failure: string;
  readonly gates: number;
  /** Those that the plugin had to block, and that passed without its judgement. */
  readonly wronglyAllowed: number;
  readonly rejected: number;
  /** Blocked by the failure policy, since no host could judge them. */
  readonly byPolicy: number;
  /** Judged by a second host. */
  readonly second: number;
  readonly slowestMs: number;
}

/** Swallows or cuts what goes through it. */
export class Proxy implements Disposable {
  readonly #server: Server;
  readonly #pairs = new Set<Socket>();
  #isHole = false;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async to(port: number): Promise<Proxy> {
    const server = createServer();
    const proxy = new Proxy(server);
    server.on("connection", (inner) => {
      const outer = connect(port, "127.0.0.1");
      for (const [from, to] of [
        [inner, outer],
        [outer, inner],
      ] as const) {
        proxy.#pairs.add(from);
        from.on("data", (chunk) => proxy.#isHole || to.write(chunk));
        from.on("error", () => {});
        from.on("close", () => {
          proxy.#pairs.delete(from);
          to.destroy();
        });
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `nats://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Bytes vanish, and connections stay: nobody is told. */
  hole(isHole: boolean): void {
    this.#isHole = isHole;
  }

  /** Connections end at once, and no new one is made. */
  async cut(ms: number): Promise<void> {
    const { port } = this.#server.address() as AddressInfo;
    this.#server.close();
    for (const socket of this.#pairs) socket.resetAndDestroy();
    await sleep(ms);
    await new Promise<void>((resolve) => this.#server.listen(port, "127.0.0.1", resolve));
  }

  [Symbol.dispose](): void {
    this.#server.close();
    for (const socket of this.#pairs) socket.destroy();
  }
}

export interface HostMore {
  readonly isolation?: "thread" | "process";
  /** Its audit log is written. */
  readonly hasAudit?: boolean;
}

/** A host in a process of its own, with its state in this folder. Resolves when it answers. */
export async function startHostProcess(
  dir: string,
  settings: Pick<FleetSettings, "name" | "servers" | "seed" | "operators" | "auditDays">,
  plugins: PluginSpec[],
  more: HostMore = {},
  again = 2,
): Promise<ChildProcess> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const { name, seed } = settings;
  const input = {
    settings: { ...settings, seed: Buffer.from(seed).toString() },
    stateDir: join(dir, "state"),
    socket: join(dir, "s.sock"),
    plugins,
    ...more,
  };
  const args = ["-C", "source", "--disable-warning=ExperimentalWarning", HOST, JSON.stringify(input)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await Promise.race([once(child.stdout, "data"), once(child, "exit")])) as [unknown];
  if (String(line).includes("ready")) return child;
  // A sandbox that is not ready in time is replaced by a person or a service manager, too.
  if (again <= 0) throw new Error(`the host ${name} did not start`);
  return startHostProcess(dir, settings, plugins, more, again - 1);
}

export class Fleet implements AsyncDisposable {
  // Not of files.ts, which needs a test runner.
  readonly #root = mkdtempSync(join(tmpdir(), "creel-fleet-"));
  readonly #gatewayKeys = keysOf("gate", "gateway");
  readonly #hostKeys: readonly Keys[];
  readonly #plugins: PluginSpec[];
  readonly #children = new Map<string, ChildProcess>();
  #lives = 0;
  readonly #open: (AsyncDisposable | Disposable)[] = [];
  nats!: Nats;
  proxy!: Proxy;
  gateway!: Host;

  private constructor(names: readonly string[], plugins: PluginSpec[]) {
    this.#hostKeys = names.map((name) => keysOf(name, "host"));
    this.#plugins = plugins;
  }

  /** The gateway reaches the server through a proxy. */
  static async start(names: readonly string[], plugins = [GUARD], more: OpenOptions = {}): Promise<Fleet> {
    const fleet = new Fleet(names, plugins);
    try {
      await fleet.#start(more);
      return fleet;
    } catch (error) {
      await fleet[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #start(more: OpenOptions): Promise<void> {
    this.nats = await Nats.start({ acme: [...this.#hostKeys, this.#gatewayKeys] });
    this.#open.push(this.nats);
    for (const { member } of this.#hostKeys) await this.startHost(member.name);
    this.proxy = await Proxy.to(Number(new URL(this.nats.urls[0]!).port));
    this.#open.push(this.proxy);
    const credentials = join(this.#root, "gate.nk");
    writeFileSync(credentials, this.#gatewayKeys.seed, { mode: 0o600 });
    this.gateway = await openHost({ fleet: { name: "gate", servers: [this.proxy.url], credentials }, logger: silent, ...more });
    this.#open.push(this.gateway);
    // It hears each of them twice a second.
    await sleep(700);
  }

  async startHost(name: string): Promise<void> {
    const keys = this.#hostKeys.find(({ member }) => member.name === name)!;
    const dir = join(this.#root, `${name}-${++this.#lives}`);
    const settings = { ...this.nats.accessOf(keys), operators: [makeSigningKey().publicKey], auditDays: undefined };
    this.#children.set(name, await startHostProcess(dir, settings, this.#plugins));
  }

  signal(name: string, signal: NodeJS.Signals): void {
    this.#children.get(name)!.kill(signal);
  }

  /** So many gates, one every few milliseconds, each of a session; what fails meanwhile is up to the caller. */
  async gates(failure: string, count: number, everyMs: number, holdMs: number, fail: () => Promise<void>): Promise<Figures> {
    let [wronglyAllowed, rejected, byPolicy, second, slowestMs] = [0, 0, 0, 0, 0];
    const one = async (n: number): Promise<void> => {
      const startedMs = performance.now();
      try {
        const { decision, unreachable, result } = await this.gateway.run(
          "before_tool_call",
          { toolName: "t", params: { n, holdMs } },
          { toolName: "t", sessionKey: `s${n}` },
        );
        if (n % 2 === 1 && decision === "pass") wronglyAllowed += 1;
        if (unreachable) byPolicy += 1;
        if (result?.blockReason === "odd, attempt 2" || result?.params?.attempt === 2) second += 1;
      } catch {
        rejected += 1;
      }
      slowestMs = Math.max(slowestMs, performance.now() - startedMs);
    };
    const failing = fail();
    const all: Promise<void>[] = [];
    for (let n = 0; n < count; n++) {
      all.push(one(n));
      if (everyMs > 0) await sleep(everyMs);
    }
    await Promise.all([...all, failing]);
    return { failure, gates: count, wronglyAllowed, rejected, byPolicy, second, slowestMs: Math.round(slowestMs) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children.values()) child.kill("SIGKILL");
    for (const one of this.#open.toReversed()) await (Symbol.asyncDispose in one ? one[Symbol.asyncDispose]() : one[Symbol.dispose]());
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}
