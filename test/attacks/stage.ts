/**
 * The gateway under attack: one host with the innocent plugins and every attack that is to come. The attacks are
 * disabled at first; `host.reload` lets one in. It hears all that the host says, for the verdicts.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { openHost } from "creel";
import type { Host, Logger, PluginSpec } from "creel";
import { isAlive } from "../support/process.ts";
import { BENIGN, isBenign, lookedUp, RETRIED } from "./benign.ts";
import type { Attack } from "./corpus.ts";
import { LOOT } from "./corpus.ts";
import { BenignLoad } from "./load.ts";
import { familyOf, ofFamily, rssMb } from "./process-stats.ts";

export interface Budget {
  readonly timeoutMs: number;
  readonly cpuMs: number;
}

/** One attack to come, under an id that no attack before it had: a breaker remembers ids. */
export interface Slot {
  readonly id: string;
  readonly attack: Attack;
  readonly budget: Budget;
}

export interface StageOptions {
  readonly isolation: "process" | "thread";
  readonly slots: readonly Slot[];
  readonly lanes?: number;
  readonly heapMb?: number;
  readonly perSecond?: number;
  /** The attacks live in another lane than the innocent. */
  readonly apart?: boolean;
}

export const PER_SECOND = 200;
/** The corpus asks for up to 64 MB where the attack would otherwise die of its heap before it begins. */
export const HEAP_MB = 64;
const SAMPLE_MS = 50;

/** In the environment and in the memory of the gateway. It must show up nowhere. */
export const SENTINEL = "creel-sentinel-5f1d2c";
export const SENTINEL_ENV = "CREEL_ATTACK_SENTINEL";

/** What the host said since the last attack began. */
export interface Heard {
  readonly restarts: { readonly why: string; readonly culprit: string | undefined }[];
  /** Innocent plugins that were blamed for anything. */
  readonly innocents: Set<string>;
  /** What attacks say they found. */
  readonly loot: string[];
  /** Places where the secret showed up. */
  readonly leaks: string[];
  sandboxRssMb: number;
}

const nothingHeard = (): Heard => ({ restarts: [], innocents: new Set(), loot: [], leaks: [], sandboxRssMb: 0 });

export class Stage implements AsyncDisposable {
  readonly host: Host;
  readonly load: BenignLoad;
  heard = nothingHeard();
  readonly #sampler: NodeJS.Timeout;

  private constructor(host: Host, perSecond: number, lines: { hear: (line: string) => void }) {
    this.host = host;
    this.load = new BenignLoad(host, perSecond);
    lines.hear = (line) => this.search("the log", line);
    this.#listen();
    this.#sampler = setInterval(() => this.#sample(), SAMPLE_MS);
  }

  static async open({
    isolation,
    slots,
    lanes = 2,
    heapMb = HEAP_MB,
    perSecond = PER_SECOND,
    apart = false,
  }: StageOptions): Promise<Stage> {
    const lines: { hear: (line: string) => void } = { hear: () => {} };
    const plugins = apart ? inTurn(slots) : [...BENIGN, ...slots.map(plugin)];
    const guests = plugins.filter((one) => !BENIGN.includes(one));
    const host = await openHost({
      isolation,
      lanes,
      plugins,
      config: { limits: { heapMb }, plugins: { entries: Object.fromEntries(guests.map(({ id }) => [id, { enabled: false }])) } },
      gateway: { getSession },
      logger: listener((line) => lines.hear(line)),
    });
    return new Stage(host, perSecond, lines);
  }

  /** From here on it is about the next attack. */
  turnPage(): void {
    this.heard = nothingHeard();
    this.#sample();
  }

  /** Looks for the secret in something that left the host. */
  search(where: string, value: unknown): void {
    if ((typeof value === "string" ? value : JSON.stringify(value)).includes(SENTINEL)) this.heard.leaks.push(where);
  }

  /** Kills the sandbox process, inside whatever walls. Resolves when it is dead; `noticed` when the host says so. */
  async kill(): Promise<{ readonly killedMs: number; readonly deadMs: number; readonly noticed: Promise<void> }> {
    const pid = familyOf(this.host.pids()[0]!).at(-1);
    // 0 would be our own process group.
    if (!pid) throw new Error(`there is no sandbox process to kill: ${this.host.pids().join()}`);
    const { promise: noticed, resolve } = Promise.withResolvers<void>();
    const off = this.host.on("restart", () => {
      off();
      resolve();
    });
    const killedMs = performance.now();
    process.kill(pid, "SIGKILL");
    while (isAlive(pid)) await sleep(1);
    return { killedMs, deadMs: performance.now(), noticed };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sampler);
    await this.host.close();
  }

  #listen(): void {
    const { host } = this;
    host.on("restart", (fact) => {
      const { why, culprit } = fact;
      this.heard.restarts.push({ why, culprit });
      if (culprit !== undefined && isBenign(culprit)) this.heard.innocents.add(culprit);
      this.search("a restart", fact);
    });
    host.on("replaced", (fact) => {
      if (isBenign(fact.plugin)) this.heard.innocents.add(fact.plugin);
      this.search("a replacement", fact);
    });
    host.on("quarantine", (fact) => {
      if (isBenign(fact.plugin)) this.heard.innocents.add(fact.plugin);
      this.search("a quarantine", fact);
    });
    host.on("plugin", (fact) => {
      if (isBenign(fact.plugin) && fact.status !== "ready") this.heard.innocents.add(fact.plugin);
      this.search("a plugin's report", fact);
    });
    host.on("log", ({ plugin: id, text }) => {
      if (isBenign(id) && text === RETRIED) this.load.tally.retried += 1;
      if (text.startsWith(LOOT)) this.heard.loot.push(text.slice(LOOT.length));
      this.search("a plugin's log", text);
    });
  }

  #sample(): void {
    for (const pid of this.host.pids()) this.heard.sandboxRssMb = Math.max(this.heard.sandboxRssMb, ofFamily(pid, rssMb));
  }
}

function plugin({ id, attack, budget }: Slot): PluginSpec {
  return { id, source: attack.source, hooks: { ...budget }, grants: { session: ["get"] } };
}

/** Plugins are dealt out to the lanes in turn: with two lanes, every second one is a neighbour. */
function inTurn(slots: readonly Slot[]): PluginSpec[] {
  return slots.flatMap((slot, at) => [BENIGN[at] ?? idle(at), plugin(slot)]);
}

function idle(at: number): PluginSpec {
  return { id: `idle-${at}`, source: "export default () => {};" };
}

/** What `host.call` of an attack comes to, by the key it asks for. */
async function getSession(key: string): Promise<Record<string, unknown>> {
  const [who, what, amount] = key.split(":");
  if (who === "benign") return { value: lookedUp(Number(what)) };
  switch (what) {
    case "sleep":
      await sleep(Number(amount));
      return { value: null };
    case "big":
      return { value: "b".repeat(Number(amount) * 2 ** 20) };
    case "bigobj":
      return { value: { data: Array.from({ length: Number(amount) * 1_000 }, (_, i) => ({ i, text: "x".repeat(1_000) })) } };
    case "throw":
      throw Object.assign(new Error("there is no such session", { cause: SENTINEL }), { secret: SENTINEL });
    default:
      return { value: "pong" };
  }
}

function listener(hear: (line: string) => void): Logger {
  const write = (fields: object, message: string): void => hear(`${message} ${JSON.stringify(fields)}`);
  return { debug: write, info: write, warn: write, error: write };
}
