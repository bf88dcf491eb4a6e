/**
 * Trusted side: what this machine has to build walls with, and whether they stand. A plan is tried once per process, with a real
 * Node that loads what a sandbox loads; what does not work is left out, and the reason kept for `creel doctor`.
 */
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CreelConfig } from "../../protocol/config.ts";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { FENCE_TOOLS } from "./fences.ts";
import type { Fence, Tool, Tools } from "./fences.ts";
import { sandboxFiles } from "./sandbox-files.ts";
import { startWalled } from "./walled.ts";
import { attempts, planWalls, REQUIRED, wallsWanted } from "./walls.ts";
import type { Attempt, Failures, Machine, WallsPlan, WallsWanted } from "./walls.ts";

const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf("."));
const TRIAL = fileURLToPath(new URL(`../../sandbox/trial${EXTENSION}`, import.meta.url));

let surveyed: Machine | undefined;
const trials = new Map<string, Promise<Trial>>();

/** What the machine has; looked up once. */
export function machine(): Machine {
  surveyed ??= {
    platform: process.platform,
    node: process.execPath,
    timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
    isSource: EXTENSION === ".ts",
    tools: findTools(),
    files: sandboxFiles(),
  };
  return surveyed;
}

/** The walls that the configuration asks for. Refuses, if it requires what cannot be had. */
export async function buildWalls(config: CreelConfig["sandbox"], lanes: number): Promise<WallsPlan> {
  const wanted = wallsWanted(config, lanes);
  const plan = await findWalls(wanted);
  const open = plan.layers.find(({ name, isOn }) => !isOn && REQUIRED.some((required) => required === name));
  if (open && wanted.walls === "required") throw new CreelError("ERR_SANDBOX_WALLS", { detail: open.why });
  return plan;
}

/** The best plan that works here. What works is tried once per process. */
export async function findWalls(wanted: WallsWanted): Promise<WallsPlan> {
  const key = `${wanted.walls} ${wanted.jitless}`;
  let trial = trials.get(key);
  if (!trial) trials.set(key, (trial = goDown(machine(), wanted)));
  const { attempt, failures } = await trial;
  return planWalls(machine(), wanted, attempt, failures);
}

/** As `findWalls`, for a machine that may lack something, and without remembering. */
export async function tryWalls(on: Machine, wanted: WallsWanted): Promise<WallsPlan> {
  const { attempt, failures } = await goDown(on, wanted);
  return planWalls(on, wanted, attempt, failures);
}

interface Trial {
  readonly attempt: Attempt;
  readonly failures: Failures;
}

/** From the best to the first that works. */
async function goDown(on: Machine, wanted: WallsWanted): Promise<Trial> {
  const failures = new Map<Fence | "permission", string>();
  const steps = attempts(on, wanted);
  for (const attempt of steps.slice(0, -1)) {
    const failure = await tryPlan(planWalls(on, wanted, attempt, failures));
    if (failure === undefined) return { attempt, failures };
    failures.set(attempt.fence === "none" ? "permission" : attempt.fence, failure);
  }
  // Below the last there is nothing: if that does not work either, the host will say so.
  return { attempt: steps.at(-1)!, failures };
}

/** Undefined: it works. Otherwise what was said last. */
async function tryPlan(plan: WallsPlan): Promise<string | undefined> {
  const { child, kill } = startWalled(plan, [TRIAL], ["ignore", "pipe", "pipe"]);
  const late = setTimeout(kill, LIMITS.sandboxStartMs);
  let [isFine, said] = [false, ""];
  child.stdout!.on("data", () => {
    isFine = true;
    kill();
  });
  child.stderr!.on("data", (chunk: Buffer) => (said = `${said}${chunk.toString("utf8")}`.slice(-2_000)));
  try {
    const [code, signal] = (await once(child, "close")) as [number | null, string | null];
    if (isFine) return undefined;
    return complaint(said) ?? (signal ? `ended by ${signal}` : `exited with ${code}`);
  } catch (error) {
    return (error as Error).message;
  } finally {
    clearTimeout(late);
  }
}

/** The line that says what is wrong: an error's, if Node wrote one, or the last. */
function complaint(said: string): string | undefined {
  const lines = said.split("\n").filter((line) => /\S/.test(line));
  return (lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1))?.trim().slice(0, 200);
}

function findTools(): Tools {
  if (process.platform !== "linux") return {};
  const folders = [
    ...new Set([
      ...(process.env.PATH ?? "").split(delimiter).filter((folder) => folder.startsWith("/")),
      "/usr/bin",
      "/bin",
      "/usr/sbin",
      "/sbin",
    ]),
  ];
  const names: Tool[] = [...new Set([...FENCE_TOOLS.bwrap, ...FENCE_TOOLS.unshare, "prlimit" as const])];
  return Object.fromEntries(
    names.flatMap((name) => {
      const path = folders.map((folder) => join(folder, name)).find(isProgram);
      return path === undefined ? [] : [[name, path]];
    }),
  );
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
