/**
 * What sandboxing costs in a real OpenClaw gateway: a turn with a tool call and eight hooks, with the plugin disabled, native, and
 * sandboxed, interleaved in one gateway by hot reloads; the same gateway's start, and its memory. `npm run build`, then `node -C source scripts/openclaw-turns.ts [rounds] [turns] [starts]`; the last line is the
 * verdict. 15 rounds of 5 turns are 75 turns of each kind. It runs for minutes and uses the OpenClaw of test/openclaw/gateway. The numbers are
 * in docs/guides/openclaw.md.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Gateway } from "../test/openclaw/support/gateway.ts";
import type { GatewayClient } from "../test/openclaw/support/gateway-client.ts";
import { METER } from "../test/openclaw/support/native-plugins.ts";
import { openclawEntry } from "../test/openclaw/support/openclaw-package.ts";
import { sandboxesOf } from "../test/openclaw/support/sandbox-pids.ts";

const [rounds = 15, turnsEach = 5, starts = 3] = process.argv.slice(2).map(Number);
const MODES = ["none", "native", "sandboxed"] as const;
type Mode = (typeof MODES)[number];
/** Of each round, not counted: the first turn after a reload fills caches. */
const WARM_UP = 1;
const TURN = 'use-tool:sessions_list args={"limit":1}';

const entry = openclawEntry();
if (entry === undefined) process.exit(1);
const root = mkdtempSync(join(tmpdir(), "creel-turns-"));
const gateway = new Gateway(entry, root, [fileURLToPath(new URL("../dist/cli/main.js", import.meta.url))]);
const of = <T>(make: (mode: Mode) => T): Record<Mode, T> => Object.fromEntries(MODES.map((mode) => [mode, make(mode)])) as Record<Mode, T>;
const times = of<number[]>(() => []);
const readyMs = of<number[]>(() => []);
const loadMs: number[] = [];
const memory = of<{ gatewayMb: number; sandboxMb: number }[]>(() => []);
let mode: Mode = "native";
let shim = "";
let session = 0;

function set(wanted: Mode): void {
  mode = wanted;
  gateway.edit(({ plugins }) => {
    plugins.entries = { meter: { enabled: wanted !== "none", hooks: { allowConversationAccess: true, allowPromptInjection: true } } };
    plugins.load = { paths: wanted === "sandboxed" ? [shim] : [] };
  });
}

async function turn(client: GatewayClient): Promise<number> {
  const beganMs = performance.now();
  const answer = await client.chat(`agent:main:t${(session += 1)}`, TURN);
  const tookMs = performance.now() - beganMs;
  if (!answer.includes("the tool said")) throw new Error(`no tool call: ${answer.slice(0, 300)}`);
  return tookMs;
}

const rssMb = (pid: number): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN;
}

function judged(value: number, atMost: number): object {
  return { value, atMost, isMet: value <= atMost };
}

/** The longest that OpenClaw took for the shim, in a start that began when the log had so many characters. */
function shimLoadMs(mark: number): number {
  const loads = gateway.log.slice(mark).matchAll(/\[plugin-load-profile\] phase=\S+ plugin=meter elapsedMs=([\d.]+).* source=(\S+)/g);
  return Math.max(...[...loads].filter(([, , source]) => source!.includes("/creel/openclaw/")).map(([, ms]) => Number(ms)));
}

function rounded(_: string, value: unknown): unknown {
  return typeof value === "number" ? Math.round(value * 100) / 100 : value;
}

try {
  await gateway.prepare();
  for (const [name, text] of Object.entries(METER)) {
    mkdirSync(join(root, "state/extensions/meter"), { recursive: true });
    writeFileSync(join(root, "state/extensions/meter", name), text);
  }
  set("native");
  const plan = JSON.parse((await gateway.creel("plan", "--json")).stdout) as { plugins: { digest: string }[] };
  await gateway.creel("move", "meter", "--json", "--accept", plan.plugins[0]!.digest);
  const shims = join(root, "creel/openclaw/meter");
  shim = join(shims, readdirSync(shims)[0]!);
  // OpenClaw goes back to the paths that it started with when a plugin is enabled again.
  set("native");
  await gateway.start();
  let client = await gateway.client();
  for (let round = 0; round < rounds; round++) {
    for (const wanted of MODES.map((_, at) => MODES[(at + round) % MODES.length]!)) {
      if (wanted !== mode) await gateway.reload(() => set(wanted));
      const mark = gateway.log.length;
      for (let at = 0; at < WARM_UP + turnsEach; at++) {
        const tookMs = await turn(client);
        if (at >= WARM_UP) times[wanted].push(tookMs);
      }
      if (/was not run|is not valid/.test(gateway.log.slice(mark))) throw new Error(gateway.log.slice(mark));
    }
    console.error(`after round ${round + 1}: ${MODES.map((one) => `${one} ${Math.round(quantile(times[one], 0.5))} ms`).join(", ")}`);
  }
  for (let start = 0; start < starts; start++)
    for (const wanted of MODES) {
      client.close();
      await gateway.isSettled();
      await gateway.kill("SIGTERM");
      set(wanted);
      const [beganMs, mark] = [performance.now(), gateway.log.length];
      await gateway.start();
      readyMs[wanted].push(performance.now() - beganMs);
      client = await gateway.client();
      await turn(client);
      if (wanted === "sandboxed") loadMs.push(shimLoadMs(mark));
      const sandboxMb = sandboxesOf(gateway.pid).reduce((sum, pid) => sum + rssMb(pid), 0);
      memory[wanted].push({ gatewayMb: rssMb(gateway.pid), sandboxMb });
    }
  client.close();
  const none = quantile(times.none, 0.5);
  for (const one of MODES) {
    const median = quantile(times[one], 0.5);
    const line = {
      mode: one,
      turns: times[one].length,
      medianMs: median,
      p25Ms: quantile(times[one], 0.25),
      toNone: median / none,
      toNative: median / quantile(times.native, 0.5),
      p25ToNone: quantile(times[one], 0.25) / quantile(times.none, 0.25),
      readyMs: quantile(readyMs[one], 0.5),
      gatewayMb: quantile(
        memory[one].map(({ gatewayMb }) => gatewayMb),
        0.5,
      ),
      sandboxMb: quantile(
        memory[one].map(({ sandboxMb }) => sandboxMb),
        0.5,
      ),
      load: loadavg()[0],
    };
    console.log(JSON.stringify(line, rounded));
  }
  const median = of((one) => quantile(times[one], 0.5));
  const start = of((one) => quantile(readyMs[one], 0.5));
  const verdict = {
    turnToNone: judged(median.sandboxed / median.none, 1.1),
    turnToNative: judged(median.sandboxed / median.native, 1.07),
    startMoreMs: judged(start.sandboxed - start.none, 1_000),
    shimLoadMs: judged(quantile(loadMs, 0.5), 100),
    turns: times.sandboxed.length,
    sandboxMb: quantile(
      memory.sandboxed.map(({ sandboxMb }) => sandboxMb),
      0.5,
    ),
    load: loadavg()[0],
  };
  console.log(JSON.stringify({ verdict }, rounded));
} catch (error) {
  console.error(gateway.log.slice(-4_000));
  throw error;
} finally {
  await gateway.close();
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}
