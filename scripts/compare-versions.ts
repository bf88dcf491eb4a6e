/**
 * What a call costs in this build, against another build of Creel: both hosts are open in one program and take turns, so that load on the machine
 * hits both. `npm run build` in both checkouts; `node_modules/isolated-vm` of the other one has to be a link to this one's, since a program can load it
 * only once; then `node -C source scripts/compare-versions.ts <folder of the other checkout>`. Ratios below 1:
 * this one is faster. The handler is asynchronous, sees its context and rewrites; `connect` goes through each version's own `creel serve`.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Host, openHost } from "creel";
import { estimate, median, shuffle } from "../src/cli/bench/statistics.ts";

const ROUNDS = Number(process.env.ROUNDS ?? 40);
const WARM_UP_ROUNDS = 4;
const IN_A_ROW = 400;
const IN_FLIGHT = 64;
const BATCHES = 12;
const LONE = 20;
const LONE_EVERY_MS = 5;
const SOCKET_WAIT_MS = 20_000;

const other = process.argv[2];
if (other === undefined) throw new Error("Name the folder of the other checkout, built.");
const folders = { before: resolve(other), now: fileURLToPath(new URL("..", import.meta.url)) };
type Version = keyof typeof folders;
const VERSIONS = ["before", "now"] as const;

const SOURCE = `export default (api) => api.on("before_tool_call", async (event, ctx) =>
  ({ params: { ...event.params, session: ctx.sessionKey } }));`;
const EVENT = { toolName: "exec", params: { command: "git status --short", cwd: "/home/user/project" } };
const CONTEXT = { toolName: "exec", sessionKey: "agent:main:telegram:dm:123456", runId: "run-1" };
const quiet = { debug() {}, info() {}, warn() {}, error() {} };

const root = mkdtempSync(join(tmpdir(), "creel-versions-"));
const servers: ChildProcess[] = [];

/** Microseconds a call, by the way in which calls come. */
const MEASURES = {
  "one after the other": async (host: Host): Promise<number> => {
    const beganMs = performance.now();
    for (let n = 0; n < IN_A_ROW; n++) await call(host);
    return ((performance.now() - beganMs) * 1_000) / IN_A_ROW;
  },
  [`${IN_FLIGHT} in flight`]: async (host: Host): Promise<number> => {
    const beganMs = performance.now();
    const one = async (): Promise<void> => {
      for (let n = 0; n < BATCHES; n++) await call(host);
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, one));
    return ((performance.now() - beganMs) * 1_000) / (IN_FLIGHT * BATCHES);
  },
  [`one every ${LONE_EVERY_MS} ms`]: async (host: Host): Promise<number> => {
    const times: number[] = [];
    for (let n = 0; n < LONE; n++) {
      await sleep(LONE_EVERY_MS);
      const beganMs = performance.now();
      await call(host);
      times.push((performance.now() - beganMs) * 1_000);
    }
    return median(times);
  },
};

async function call(host: Host): Promise<void> {
  const outcome = await host.run("before_tool_call", EVENT, CONTEXT);
  if (!JSON.stringify(outcome.result).includes(CONTEXT.sessionKey))
    throw new Error(`the handler was not served: ${JSON.stringify(outcome)}`);
}

async function openOf(version: Version): Promise<typeof openHost> {
  const file = ["entry.js", "index.js"].map((name) => join(folders[version], "dist", name)).find((path) => existsSync(path));
  if (file === undefined) throw new Error(`${folders[version]} is not built. Run npm run build there.`);
  return ((await import(pathToFileURL(file).href)) as { openHost: typeof openHost }).openHost;
}

async function embedded(version: Version, isolation: "thread" | "process"): Promise<Host> {
  const open = await openOf(version);
  return open({ isolation, lanes: 1, plugins: [{ id: "rewrite", source: SOURCE }], logger: quiet });
}

async function connected(version: Version): Promise<Host> {
  const folder = mkdtempSync(join(root, `${version}-`));
  mkdirSync(join(folder, "rewrite"));
  writeFileSync(join(folder, "rewrite/index.js"), SOURCE);
  writeFileSync(join(folder, "creel.json"), JSON.stringify({ plugins: { load: { paths: ["./rewrite"] } } }));
  const socket = join(folder, "s.sock");
  const child = spawn(process.execPath, [join(folders[version], "dist/cli/main.js"), "serve", "--socket", socket], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  servers.push(child);
  const open = await openOf(version);
  for (const endMs = Date.now() + SOCKET_WAIT_MS; ; await sleep(LONE_EVERY_MS))
    try {
      return await open({ connect: socket, logger: quiet });
    } catch (error) {
      // It is not there yet, or still loads its plugins.
      if (Date.now() > endMs || child.exitCode !== null) throw error;
    }
}

const KINDS: Record<string, (version: Version) => Promise<Host>> = {
  thread: (version) => embedded(version, "thread"),
  process: (version) => embedded(version, "process"),
  connect: connected,
};

const rows: Record<string, string | number>[] = [];
try {
  for (const [kind, open] of Object.entries(KINDS)) {
    const hosts = { before: await open("before"), now: await open("now") };
    for (const [measure, take] of Object.entries(MEASURES)) {
      const us: Record<Version, number[]> = { before: [], now: [] };
      for (let at = -WARM_UP_ROUNDS; at < ROUNDS; at++)
        for (const version of shuffle([...VERSIONS])) {
          const value = await take(hosts[version]);
          if (at >= 0) us[version].push(value);
        }
      const { value, low, high } = estimate(us.now.map((now, of) => now / us.before[of]!));
      const row = { kind, measure, "before µs": round(median(us.before)), "now µs": round(median(us.now)) };
      rows.push({ ...row, "now / before": `${value.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}]` });
      console.error(`${kind}, ${measure}: ${value.toFixed(3)}`);
    }
    await Promise.all(VERSIONS.map((version) => hosts[version].close()));
  }
  console.table(rows);
  console.log(`${ROUNDS} rounds in turns, load ${loadavg()[0]!.toFixed(1)}`);
} finally {
  for (const server of servers) server.kill();
  rmSync(root, { recursive: true, force: true });
}

function round(us: number): number {
  return Math.round(us * 10) / 10;
}
