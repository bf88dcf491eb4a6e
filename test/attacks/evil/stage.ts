/**
 * A gateway with two plugins, each in a process of its own; in the place of the first one's there is the hostile program, whenever it is started. What the
 * gateway's process feels of it is measured: memory above what it takes at rest, and how long its event loop was kept, by the clock and by the CPU time of its
 * thread. The control process has the same clock at the same time: what it feels is the machine's doing.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Facts, Host, Outcome, PluginSpec } from "creel";
import { openHostWith } from "../../../src/sdk/open-host.ts";
import { startProcessUnit } from "../../../src/host/supervisor/launch/process-unit.ts";
import { ControlProcess } from "../control-process.ts";
import type { Mode } from "./modes.ts";
import { silentLogger } from "../../../src/host/report/silent-logger.ts";

const PROGRAM = fileURLToPath(new URL("./program.ts", import.meta.url));
const WALL_MS = 500;
const WARM_UPS = 100;

/** Which of the units that are started is the neighbour's: the second one. All others are the hostile program. */
const HONEST = 1;

export interface Felt {
  readonly mode: Mode;
  readonly seconds: number;
  /** How often the sandbox was replaced, and who was named. */
  readonly restarts: readonly Facts["restart"][];
  /** How the hostile process's plugin's calls ended: status and error, counted. */
  readonly calls: Readonly<Record<string, number>>;
  /** The neighbour's: how many were not answered as they should have been, and the slowest. */
  readonly neighbour: { readonly calls: number; readonly wrong: number; readonly worstMs: number; readonly strikes: number };
  readonly grownMb: number;
  /** The longest that the event loop was kept: by the clock, and in CPU time. */
  readonly stallMs: number;
  readonly stallCpuMs: number;
  /** The longest that the control process's was, by the clock; 0 without one. */
  readonly machineMs: number;
  /** Of the thread's time, the share that it was at work. */
  readonly cpuShare: number;
}

export interface Suffering {
  readonly seconds: number;
  /** It ends when the sandbox was replaced. */
  readonly isUntilReplaced?: boolean;
  /** Beside a control process. */
  readonly isControlled?: boolean;
}

export async function suffer(mode: Mode, how: Suffering): Promise<Felt> {
  let started = 0;
  const plugins: PluginSpec[] = [
    {
      id: "taken",
      source: `export default (api) => { api.on("before_tool_call", () => undefined); };`,
      hooks: { timeoutMs: WALL_MS },
      grants: { fs: true },
    },
    {
      id: "neighbour",
      source: `export default (api) => { api.on("message_sending", (event) => ({ content: event.content.length > 9 ? event.content : "fine" })); };`,
    },
  ];
  const host = await openHostWith(
    {
      isolation: "process",
      lanes: 2,
      logger: silentLogger,
      config: { sandbox: { spare: false, walls: "none" }, plugins: { entries: { taken: { lane: 0 }, neighbour: { lane: 1 } } } },
      plugins,
    },
    {
      isBare: true,
      lanesPerUnit: 1,
      units: (start, walls) => (lanes) => {
        const isHonest = started++ === HONEST;
        return isHonest ? start(lanes) : startProcessUnit(lanes, walls, [PROGRAM, mode]);
      },
    },
  );
  try {
    return await measure(host, mode, how);
  } finally {
    await host.close();
  }
}

async function measure(host: Host, mode: Mode, { seconds, isUntilReplaced = false, isControlled = false }: Suffering): Promise<Felt> {
  const restarts: Facts["restart"][] = [];
  host.on("restart", (fact) => restarts.push(fact));
  const calls: Record<string, number> = {};
  const neighbour = { calls: 0, wrong: 0, worstMs: 0, strikes: 0 };
  // What its code and its buffers take once is not what it is made to take.
  for (let warm = 0; warm < WARM_UPS; warm++) {
    await ask(host, "x".repeat(100_000));
    await Promise.all(Array.from({ length: WARM_UPS }, () => ask(host)));
  }
  await using control = isControlled ? await ControlProcess.start() : undefined;
  const meter = new Meter(await restBytes());
  await control?.take();
  const untilMs = performance.now() + seconds * 1_000;
  const isOn = (): boolean => performance.now() < untilMs && !(isUntilReplaced && restarts.length > 0 && neighbour.calls > 0);
  const attack = async (): Promise<void> => {
    while (isOn()) {
      const outcome = await host.run("before_tool_call", { toolName: "exec", params: { text: "x".repeat(100_000) } });
      const [call] = outcome.calls;
      const key = [call?.status, call?.error?.code].filter(Boolean).join(" ");
      calls[key] = (calls[key] ?? 0) + 1;
      if (call?.status === "quarantined") await host.release("taken");
      await pause(20);
    }
  };
  const serve = async (): Promise<void> => {
    while (isOn()) {
      const startedMs = performance.now();
      const outcome = await ask(host);
      neighbour.calls += 1;
      neighbour.worstMs = Math.max(neighbour.worstMs, Math.round(performance.now() - startedMs));
      if ((outcome.result as { content?: string } | undefined)?.content !== "fine") neighbour.wrong += 1;
      await pause(5);
    }
  };
  await Promise.all([attack(), attack(), serve()]);
  const { points } = host.inspect("neighbour").circuit;
  neighbour.strikes = points + restarts.filter(({ culprit }) => culprit === "neighbour").length;
  const felt = meter.stop();
  const machineMs = round((await control?.take())?.longestMs ?? 0);
  return { mode, seconds, restarts, calls, neighbour, ...felt, machineMs };
}

/** Of this process when it does nothing, and what it no longer uses is collected, where it may be (`--expose-gc`). */
async function restBytes(): Promise<number> {
  for (let time = 0; time < 3; time++) {
    globalThis.gc?.();
    await sleep(100);
  }
  return process.memoryUsage.rss();
}

function ask(host: Host, content = "b"): Promise<Outcome> {
  return host.run("message_sending", { to: "a", content }, { channelId: "chat" });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const TICK_MS = 5;

class Meter {
  readonly #from: number;
  readonly #startedMs = performance.now();
  readonly #startCpuMs = cpuMs();
  #most = 0;
  #lastMs = this.#startedMs;
  #lastCpuMs = this.#startCpuMs;
  #stallMs = 0;
  #stallCpuMs = 0;
  readonly #timer = setInterval(() => this.#tick(), TICK_MS);

  constructor(fromBytes: number) {
    this.#from = fromBytes;
  }

  #tick(): void {
    const nowMs = performance.now();
    const nowCpuMs = cpuMs();
    this.#stallMs = Math.max(this.#stallMs, nowMs - this.#lastMs - TICK_MS);
    this.#stallCpuMs = Math.max(this.#stallCpuMs, nowCpuMs - this.#lastCpuMs);
    this.#lastMs = nowMs;
    this.#lastCpuMs = nowCpuMs;
    this.#most = Math.max(this.#most, process.memoryUsage.rss());
  }

  stop(): Pick<Felt, "grownMb" | "stallMs" | "stallCpuMs" | "cpuShare"> {
    this.#tick();
    clearInterval(this.#timer);
    return {
      grownMb: round((this.#most - this.#from) / 2 ** 20),
      stallMs: round(this.#stallMs),
      stallCpuMs: round(this.#stallCpuMs),
      cpuShare: round((cpuMs() - this.#startCpuMs) / (performance.now() - this.#startedMs)),
    };
  }
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
