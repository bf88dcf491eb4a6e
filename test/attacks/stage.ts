/**
 * The gateway under attack: one host with the innocent plugins and every attack that is to come. The attacks are
 * disabled at first; `host.reload` lets one in. It hears all that the host says, for the verdicts.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openHost } from "creel";
import type { Host, Logger, PluginSpec } from "creel";
import { isAlive } from "../support/process.ts";
import { INNOCENT, isInnocent, lookedUp, RETRIED } from "./benign.ts";
import type { Attack } from "./corpus.ts";
import { LOOT } from "./corpus.ts";
import { ControlProcess } from "./control-process.ts";
import { requestApproval } from "./drives.ts";
import { BenignLoad } from "./load.ts";
import { familyOf, ofFamily, rssMb } from "./process-stats.ts";
import { StallMeter } from "./stalls.ts";

export interface Budget {
  readonly timeoutMs: number;
  readonly cpuMs: number;
}

/** One attack to come, under an id that no attack before it had: a breaker remembers ids. */
export interface Slot {
  readonly id: string;
  readonly attack: Attack;
  readonly budget: Budget;
  /** How long it is left in place when its calls have settled. */
  readonly stayMs: number;
  /** It stays for all of that time even if it is over. */
  readonly isForced: boolean;
  /** More than 1: the bounds of time are multiplied by it, and the attack leaves as soon as the host has done what is expected. */
  readonly clockRoom?: number;
}

/** The plugins of a slot: itself, and its copies. */
export const idsOf = ({ id, attack: { copies } }: Slot): string[] => [
  id,
  ...Array.from({ length: copies - 1 }, (_, at) => `${id}-copy-${at + 2}`),
];

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
  /** What was said about plugins that are not innocent: `replaced: evil`. */
  readonly named: Set<string>;
  /** Plugins whose cell was disposed of. */
  readonly disposed: Set<string>;
  /** What attacks say they found. */
  readonly loot: string[];
  /** Places where the secret showed up. */
  readonly leaks: string[];
  sandboxRssMb: number;
}

const nothingHeard = (): Heard => ({
  restarts: [],
  innocents: new Set(),
  named: new Set(),
  disposed: new Set(),
  loot: [],
  leaks: [],
  sandboxRssMb: 0,
});

export class Stage implements AsyncDisposable {
  readonly host: Host;
  readonly load: BenignLoad;
  /** Of this process's event loop. */
  readonly stalls = new StallMeter();
  readonly control: ControlProcess;
  heard = nothingHeard();
  readonly stateDir: string;
  readonly #sampler: NodeJS.Timeout;

  private constructor(host: Host, control: ControlProcess, perSecond: number, lines: { hear: (line: string) => void }, stateDir: string) {
    this.host = host;
    this.control = control;
    this.stateDir = stateDir;
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
    const guests = slots.flatMap(pluginsOf);
    const plugins = [...INNOCENT, ...guests];
    // Pinned, so that attacks meet innocent plugins in the same lane and in another, whatever placement would do.
    const laneOf = (at: number): number => (apart ? Number(at >= INNOCENT.length) : at % lanes);
    const entries = plugins.map(({ id }, at) => [id, { lane: laneOf(at), ...(at >= INNOCENT.length && { enabled: false }) }]);
    const stateDir = mkdtempSync(join(tmpdir(), "creel-attacks-"));
    const control = await ControlProcess.start();
    const host = await openHost({
      isolation,
      lanes,
      plugins,
      config: { stateDir, limits: { heapMb }, plugins: { entries: Object.fromEntries(entries) } },
      gateway: { getSession, requestApproval },
      logger: listener((line) => lines.hear(line)),
    });
    return new Stage(host, control, perSecond, lines, stateDir);
  }

  /** From here on it is about the next attack. */
  turnPage(): void {
    this.heard = nothingHeard();
    this.#sample();
  }

  /** An innocent plugin that was blamed is innocent again: the next attack is judged by itself. */
  async pardon(): Promise<void> {
    for (const { id } of INNOCENT) if (this.host.inspect(id!).circuit.state !== "closed") await this.host.release(id!);
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
    this.stalls[Symbol.dispose]();
    await this.host.close();
    await this.control[Symbol.asyncDispose]();
    rmSync(this.stateDir, { recursive: true, force: true });
  }

  #listen(): void {
    const { host } = this;
    host.on("restart", (fact) => {
      const { why, culprit } = fact;
      this.heard.restarts.push({ why, culprit });
      if (culprit !== undefined) this.#blamed("restart", culprit);
      this.search("a restart", fact);
    });
    host.on("replaced", (fact) => {
      this.#blamed("replaced", fact.plugin);
      this.heard.disposed.add(fact.plugin);
      this.search("a replacement", fact);
    });
    host.on("quarantine", (fact) => {
      this.#blamed(`breaker ${fact.state}`, fact.plugin);
      this.search("a quarantine", fact);
    });
    host.on("plugin", (fact) => {
      if (fact.status !== "ready" && fact.status !== "disabled") this.#blamed(fact.status, fact.plugin);
      this.search("a plugin's report", fact);
    });
    host.on("refused", (fact) => {
      this.#blamed(`refused ${fact.service}`, fact.plugin);
      this.search("a refusal", fact);
    });
    host.on("log", ({ plugin: id, text }) => {
      if (isInnocent(id) && text === RETRIED) this.load.tally.retried += 1;
      if (text.startsWith(LOOT)) this.heard.loot.push(text.slice(LOOT.length));
      this.search("a plugin's log", text);
    });
  }

  #blamed(what: string, plugin: string): void {
    if (isInnocent(plugin)) this.heard.innocents.add(plugin);
    else this.heard.named.add(`${what}: ${plugin}`);
  }

  #sample(): void {
    for (const pid of this.host.pids()) this.heard.sandboxRssMb = Math.max(this.heard.sandboxRssMb, ofFamily(pid, rssMb));
  }
}

function pluginsOf(slot: Slot): PluginSpec[] {
  const { attack, budget } = slot;
  return idsOf(slot).map((id) => ({ id, source: attack.source, hooks: { ...budget }, grants: attack.grants }));
}

/** Made once: making it takes the gateway as long as a stall may take, and that is not what an attack on Creel costs. */
const BIG_OBJECTS = new Map<number, object>();

function bigObject(thousands: number): object {
  let made = BIG_OBJECTS.get(thousands);
  if (!made)
    BIG_OBJECTS.set(thousands, (made = { data: Array.from({ length: thousands * 1_000 }, (_, i) => ({ i, text: "x".repeat(1_000) })) }));
  return made;
}

/** The amounts that files of the corpus ask for are there before the first attack. */
bigObject(60);

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
      return { value: bigObject(Number(amount)) };
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
