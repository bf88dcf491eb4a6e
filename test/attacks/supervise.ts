/** Runs an order in a gateway process. A gateway that dies or falls silent is a finding about the attack it was at; another goes on with the rest. */
import { fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isAlive } from "../support/process.ts";
import type { Order, Report, Residue } from "./order.ts";
import { SENTINEL, SENTINEL_ENV } from "./stage.ts";
import type { Trial } from "./trial.ts";

const GATEWAY = fileURLToPath(new URL("./gateway.ts", import.meta.url));
/** The gateway says every second that it lives, until its work is done. */
const SILENCE_MS = 20_000;
/** A sandbox notices that its gateway is gone when the pipe closes, which is at once. */
const ORPHAN_MS = 2_000;

export interface Death {
  readonly id: string;
  readonly attack: string;
  readonly how: string;
  /** It lived and did nothing any more, or could not end. */
  readonly isSilent: boolean;
}

export interface Performance {
  readonly trials: readonly Trial[];
  /** Benign calls outside of any attack. */
  readonly rests: readonly Trial["benign"][];
  readonly deaths: readonly Death[];
  readonly residues: readonly Residue[];
  /** Sandbox processes that outlived their gateway. */
  readonly orphans: number;
}

export type OnProgress = (done: number, of: number, trial: Trial | Death) => void;

interface Act {
  readonly trials: Trial[];
  readonly end: Extract<Report, { kind: "end" }> | undefined;
  /** The attack it was at when it died, and how; undefined when it did not. */
  readonly death: { readonly id: string | undefined; readonly how: string; readonly isSilent: boolean } | undefined;
  readonly pids: ReadonlySet<number>;
}

export async function perform(order: Order, progress: OnProgress, silenceMs = SILENCE_MS): Promise<Performance> {
  const trials: Trial[] = [];
  const deaths: Death[] = [];
  const residues: Residue[] = [];
  const rests: Trial["benign"][] = [];
  const sent = (): number => [...trials.map(({ benign }) => benign), ...rests].reduce((sum, benign) => sum + benign.sent, 0);
  let [orphans, slots] = [0, order.slots];
  while (true) {
    const act = await oneAct({ ...order, slots, calls: order.calls - sent() }, silenceMs, (trial) =>
      progress(order.slots.length - slots.length + (slots.findIndex(({ id }) => id === trial.id) + 1), order.slots.length, trial),
    );
    trials.push(...(act.end?.trials ?? act.trials));
    if (act.end) {
      residues.push(act.end.residue);
      rests.push(act.end.rest);
    }
    orphans += await outlived(act.pids);
    if (!act.death) return { trials, rests, deaths, residues, orphans };
    const at = slots.findIndex(({ id }) => id === act.death!.id);
    const culprit = slots[at] ?? { id: "none", attack: "none" };
    const death = { id: culprit.id, attack: culprit.attack, how: act.death.how, isSilent: act.death.isSilent };
    deaths.push(death);
    slots = slots.slice(at + 1);
    progress(order.slots.length - slots.length, order.slots.length, death);
    if (at < 0 || slots.length === 0) return { trials, rests, deaths, residues, orphans };
  }
}

/** How many are still there when they have had the time to notice. */
async function outlived(pids: ReadonlySet<number>): Promise<number> {
  const untilMs = performance.now() + ORPHAN_MS;
  while (performance.now() < untilMs && [...pids].some(isAlive)) await sleep(10);
  return [...pids].filter(isAlive).length;
}

async function oneAct(order: Order, silenceMs: number, progress: (trial: Trial) => void): Promise<Act> {
  const child = fork(GATEWAY, {
    execArgv: ["-C", "source", "--disable-warning=ExperimentalWarning"],
    env: { ...process.env, [SENTINEL_ENV]: SENTINEL },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let said = "";
  child.stderr!.on("data", (chunk: Buffer) => (said = `${said}${chunk.toString("utf8")}`.slice(-2_000)));
  const trials: Trial[] = [];
  const pids = new Set<number>();
  let end: Act["end"];
  let at: string | undefined;
  let isSilent = false;
  const silence = setTimeout(() => {
    isSilent = true;
    child.kill("SIGKILL");
  }, silenceMs);
  child.on("message", (message) => {
    const report = message as Report;
    silence.refresh();
    if (report.kind === "begin") {
      at = report.id;
      for (const pid of report.pids) pids.add(pid);
    } else if (report.kind === "trial") {
      trials.push(report.trial);
      progress(report.trial);
    } else if (report.kind === "end") end = report;
  });
  child.send(order);
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  child.on("close", (code, signal) => {
    const last = said.trim().split("\n").at(-1) ?? "";
    if (isSilent) resolve(`the gateway said nothing for ${silenceMs / 1_000} s`);
    else if (code !== 0) resolve(`the gateway ended with ${signal ?? code}${last && `: ${last}`}`);
    else resolve(end ? undefined : "the gateway ended early");
  });
  const how = await promise;
  clearTimeout(silence);
  return { trials, end, death: how === undefined ? undefined : { id: at, how, isSilent }, pids };
}
