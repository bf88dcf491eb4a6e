/**
 * What a gateway sees of a fleet that fails: hosts in processes of their own on a real NATS server, gates and durable events in flight, and
 * then a death, a halt or a cut. Half of the gates must be blocked by the plugin. fleet-rows.ts has the failures, `scripts/fleet-failures.ts`
 * prints the table.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openHost } from "creel";
import type { Host, PluginSpec } from "creel";
import { Operator } from "../../src/fleet/control/operator.ts";
import { makeSigningKey } from "../../src/fleet/control/signature.ts";
import { connectNats } from "../../src/fleet/nats.ts";
import type { FleetSettings } from "../../src/fleet/settings.ts";
import { KeptEvents, teller, TELLERS } from "./kept-events.ts";
import type { EventFigures } from "./kept-events.ts";
import { keysOf, Nats } from "./nats.ts";
import type { Keys } from "./nats.ts";
import { Proxy } from "./proxy.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const HOST = fileURLToPath(new URL("./fleet-host.ts", import.meta.url));

/** Blocks odd numbers, after a while, and says which attempt it is. Passes durable events on. */
function guard(origin: string): PluginSpec {
  return {
    id: "guard",
    source: `export default (api) => {
      api.on("before_tool_call", async ({ params }, ctx) => {
        if (params.holdMs > 0) await new Promise((resolve) => setTimeout(resolve, params.holdMs));
        if (params.n % 2 === 1) return { block: true, blockReason: "odd, attempt " + (ctx.attempt ?? 1) };
        return { params: { ...params, attempt: ctx.attempt ?? 1 } };
      });
      ${teller(origin, 0)}
    };`,
    grants: { fetch: [origin] },
  };
}

function tellers(origin: string): PluginSpec[] {
  const others = Array.from({ length: TELLERS - 1 }, (_, at) => at + 1);
  return others.map((share) => ({
    id: `teller-${share}`,
    source: `export default (api) => { ${teller(origin, share)} };`,
    grants: { fetch: [origin] },
  }));
}

export interface Figures extends EventFigures {
  readonly failure: string;
  readonly gates: number;
  /** Those that the plugin had to block, and that passed without its judgement. */
  readonly wronglyAllowed: number;
  readonly rejected: number;
  /** Blocked by the failure policy, since no host could judge them. */
  readonly byPolicy: number;
  /** Those that the plugin would have let pass, and that were blocked for any reason. */
  readonly wronglyBlocked: number;
  /** Judged by a second host. */
  readonly second: number;
  readonly slowestMs: number;
}

/** Of one failure. */
export interface Attack {
  readonly failure: string;
  readonly gates: number;
  readonly everyMs: number;
  readonly holdMs: number;
  /** With each gate; 1 unless set. */
  readonly events?: number;
  /** For so long events may take to arrive, after the last gate. */
  readonly settleMs?: number;
  /** What fails, while gates are made. */
  readonly fail: () => Promise<void>;
  /** Mends it, so that events that a dead host has kept can be delivered. */
  readonly mend?: () => Promise<void>;
  /** Another one than that of the fleet. */
  readonly gateway?: Host;
}

export interface FleetOptions {
  /** By how much the clocks of hosts are off. */
  readonly skewMs?: Readonly<Record<string, number>>;
  /** The way of durable events. */
  readonly through?: "outbox" | "jetstream";
}

export interface HostMore {
  readonly isolation?: "thread" | "process";
  /** Its audit log is written. */
  readonly hasAudit?: boolean;
  readonly durable?: readonly string[];
  readonly through?: "outbox" | "jetstream";
  readonly skewMs?: number;
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
  readonly #options: FleetOptions;
  readonly #children = new Map<string, ChildProcess>();
  readonly #open: (AsyncDisposable | Disposable)[] = [];
  /** Between each host and the server. */
  readonly hostProxies = new Map<string, Proxy>();
  nats!: Nats;
  /** Between the gateway and the server. */
  proxy!: Proxy;
  gateway!: Host;
  events!: KeptEvents;

  private constructor(names: readonly string[], options: FleetOptions) {
    this.#hostKeys = names.map((name) => keysOf(name, "host"));
    this.#options = options;
  }

  static async start(names: readonly string[], options: FleetOptions = {}): Promise<Fleet> {
    const fleet = new Fleet(names, options);
    try {
      await fleet.#start();
      return fleet;
    } catch (error) {
      await fleet[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #start(): Promise<void> {
    this.events = await KeptEvents.start();
    this.#open.push(this.events);
    const boss = keysOf("boss", "operator");
    this.nats = await Nats.start({ acme: [...this.#hostKeys, this.#gatewayKeys, boss] });
    this.#open.push(this.nats);
    if (this.#options.through === "jetstream") {
      await using operator = await Operator.listen(await connectNats(this.nats.accessOf(boss)));
      await operator.events.make(1);
      await operator.events.makeConsumers([guard(""), ...tellers("")].map(({ id }) => id!));
    }
    await Promise.all(this.#hostKeys.map(({ member }) => this.startHost(member.name)));
    this.proxy = await this.#proxied();
    const credentials = join(this.#root, "gate.nk");
    writeFileSync(credentials, this.#gatewayKeys.seed, { mode: 0o600 });
    this.gateway = await openHost({ fleet: { name: "gate", servers: [this.proxy.url], credentials }, logger: silent });
    this.#open.push(this.gateway);
    // It hears each of them twice a second.
    await sleep(700);
  }

  async #proxied(): Promise<Proxy> {
    const proxy = await Proxy.to(Number(new URL(this.nats.urls[0]!).port));
    this.#open.push(proxy);
    return proxy;
  }

  /** Again with the state folder that it had. */
  async startHost(name: string): Promise<void> {
    const keys = this.#hostKeys.find(({ member }) => member.name === name)!;
    let proxy = this.hostProxies.get(name);
    if (!proxy) this.hostProxies.set(name, (proxy = await this.#proxied()));
    const settings = {
      ...this.nats.accessOf(keys),
      servers: [proxy.url],
      operators: [makeSigningKey().publicKey],
      auditDays: undefined,
    };
    const skewMs = this.#options.skewMs?.[name] ?? 0;
    const more = { durable: ["session:end"], skewMs, ...(this.#options.through && { through: this.#options.through }) };
    const { origin } = this.events;
    this.#children.set(name, await startHostProcess(join(this.#root, name), settings, [guard(origin), ...tellers(origin)], more));
  }

  /** Where the host listens for gateways of its own machine. */
  socketOf(name: string): string {
    return join(this.#root, name, "s.sock");
  }

  signal(name: string, signal: NodeJS.Signals): void {
    this.#children.get(name)!.kill(signal);
  }

  /** Kills the host and waits until it is gone. */
  async kill(name: string): Promise<void> {
    const child = this.#children.get(name)!;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  /** So many gates, one every few milliseconds, each of a session, and with each an event; what fails meanwhile is up to the caller. */
  async attack(attack: Attack): Promise<Figures> {
    const { failure, gates, everyMs, holdMs, events: perGate = 1, settleMs = SETTLE_MS, fail, mend, gateway = this.gateway } = attack;
    let [wronglyAllowed, wronglyBlocked, rejected, byPolicy, second, slowestMs] = [0, 0, 0, 0, 0, 0];
    const from = this.events.count;
    const one = async (n: number): Promise<void> => {
      const startedMs = performance.now();
      try {
        const { decision, unreachable, result } = await gateway.run(
          "before_tool_call",
          { toolName: "t", params: { n, holdMs } },
          { toolName: "t", sessionKey: `s${n}` },
        );
        if (n % 2 === 1 && decision === "pass") wronglyAllowed += 1;
        if (n % 2 === 0 && decision !== "pass") wronglyBlocked += 1;
        if (unreachable) byPolicy += 1;
        if (result?.blockReason === "odd, attempt 2" || result?.params?.attempt === 2) second += 1;
      } catch {
        rejected += 1;
      }
      slowestMs = Math.max(slowestMs, performance.now() - startedMs);
    };
    const failing = fail();
    const all: Promise<void>[] = [];
    for (let n = 0; n < gates; n++) {
      all.push(one(n));
      for (let event = 0; event < perGate; event++) this.events.emit(gateway);
      if (everyMs > 0) await sleep(everyMs);
    }
    await Promise.all([...all, failing]);
    await mend?.();
    const events = await this.events.figures(from, settleMs);
    const figures = { wronglyAllowed, rejected, byPolicy, wronglyBlocked, second, slowestMs: Math.round(slowestMs) };
    return { failure, gates, ...figures, ...events };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children.values()) child.kill("SIGKILL");
    for (const one of this.#open.toReversed()) await (Symbol.asyncDispose in one ? one[Symbol.asyncDispose]() : one[Symbol.dispose]());
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

/** An event that a dead host had begun is tried again after as much as half its age. */
const SETTLE_MS = 60_000;
