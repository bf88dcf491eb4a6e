/**
 * How long `openHost` with one installed plugin takes, from the packed package, against a child process with one worker and one isolate, written by
 * hand: `node -C source scripts/host-start.ts [tarball]`. Each sample is a program of its own that has imported what it needs, as a gateway has
 * when it opens its host. Fails beyond the bound. The first answer comes later: an installed plugin sleeps until its first run.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { estimate, median, shuffle } from "../src/cli/bench/statistics.ts";
import { installedPackage } from "./installed-package.ts";

const ROUNDS = Number(process.env.ROUNDS ?? 15);
const MOST = 1.3;

const EVENT = `{ toolName: "rm", params: {} }`;
const hostProgram = (config: string): string => `
import { openHost } from "creel";
const begun = performance.now();
const host = await openHost({ config: ${config}, logger: { debug() {}, info() {}, warn() {}, error() {} } });
const opened = performance.now();
const { decision } = await host.run("before_tool_call", ${EVENT});
const answered = performance.now();
if (decision !== "block") throw new Error(decision);
console.log(JSON.stringify([opened - begun, answered - begun]));
await host.close();`;
const FILES = {
  "host.mjs": hostProgram(`"./creel.json"`),
  // What the walls take: the floor has none.
  "open.mjs": hostProgram(`{ stateDir: ".creel", sandbox: { walls: "none" } }`),
  "floor.mjs": `
import { fork } from "node:child_process";
import { once } from "node:events";
const begun = performance.now();
const child = fork("./floor-child.mjs");
await once(child, "message");
const opened = performance.now();
child.send(JSON.stringify(${EVENT}));
const [answer] = await once(child, "message");
const answered = performance.now();
if (!JSON.parse(answer).block) throw new Error(answer);
console.log(JSON.stringify([opened - begun, answered - begun]));
child.disconnect();`,
  "floor-child.mjs": `
import { Worker } from "node:worker_threads";
const worker = new Worker(new URL("./floor-worker.mjs", import.meta.url));
worker.on("message", (answer) => process.send(answer));
process.on("message", (event) => worker.postMessage(event));
process.on("disconnect", () => process.exit());`,
  "floor-worker.mjs": `
import { readFileSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import ivm from "isolated-vm";
const isolate = new ivm.Isolate({ memoryLimit: 128 });
const context = isolate.createContextSync();
const code = readFileSync("./gate/index.js", "utf8").replace("export default", "const register =");
const call = context.evalSync(
  code + "let handler; register({ on: (hook, given) => { handler = given; } }); (event) => JSON.stringify(handler(JSON.parse(event)));",
  { reference: true },
);
parentPort.on("message", (event) => parentPort.postMessage(call.applySync(undefined, [event], { timeout: 1_000 })));
parentPort.postMessage("ready");`,
};

using installed = installedPackage(process.argv[2]);
const { home: cwd } = installed;
for (const [name, text] of Object.entries(FILES)) writeFileSync(join(cwd, name), text);

function sample(file: string): [opened: number, answered: number] {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${file} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout) as [number, number];
}

const NAMES = ["host.mjs", "open.mjs", "floor.mjs"] as const;
const times = Object.fromEntries(NAMES.map((name) => [name, [] as [number, number][]])) as Record<
  (typeof NAMES)[number],
  [number, number][]
>;
for (let round = 0; round <= ROUNDS; round++)
  for (const name of shuffle([...NAMES])) {
    const took = sample(name);
    // The first round fills the file system's cache.
    if (round > 0) times[name].push(took);
  }

for (const [at, what] of ["until it is open", "until the first answer"].entries()) {
  const [walled, open, floor] = NAMES.map((name) => times[name].map((pair) => pair[at]!)) as [number[], number[], number[]];
  for (const [kind, host] of [
    ["", walled],
    [", no walls", open],
  ] as const) {
    const { value, low, high } = estimate(host.map((ms, round) => ms / floor[round]!));
    const isBound = at === 0 && kind === "";
    const isMissed = isBound && value > MOST;
    const bound = isBound ? `  at most ${MOST} x${isMissed ? ", MISSED" : ""}` : "";
    const both = `openHost ${median(host).toFixed(0)} ms, by hand ${median(floor).toFixed(0)} ms`;
    console.log(`${`${what}${kind}`.padEnd(34)}${value.toFixed(2)} x [${low.toFixed(2)} … ${high.toFixed(2)}]${bound}  (${both})`);
    if (isMissed) process.exitCode = 1;
  }
}
