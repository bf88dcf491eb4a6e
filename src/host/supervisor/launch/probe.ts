/**
 * Trusted side: finds out what this machine has to build walls with, and whether they work. Each plan is tried once per
 * process, with a real Node that loads what a sandbox loads. What fails is left out, and the reason kept for `creel
 * doctor`.
 */
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CreelConfig } from "../../../protocol/config/config.ts";
import { CreelError } from "../../../protocol/errors.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import { WRAPPER_TOOLS } from "./wrappers.ts";
import type { Wrapper, Tool, Tools } from "./wrappers.ts";
import { sandboxFiles } from "./sandbox-files.ts";
import { spawnSandbox } from "./spawn.ts";
import { attempts, planWalls, REQUIRED, wallsWanted } from "./plan.ts";
import type { Attempt, Failures, Capabilities, WallsPlan, WallsWanted } from "./plan.ts";

const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf("."));
const SELF_TEST = fileURLToPath(new URL(`../../../sandbox/process/self-test${EXTENSION}`, import.meta.url));

let known: Capabilities | undefined;
const probes = new Map<string, Promise<ProbeResult>>();

/** What the machine has, looked up once. */
export function capabilities(): Capabilities {
  known ??= {
    platform: process.platform,
    node: process.execPath,
    timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
    isSource: EXTENSION === ".ts",
    tools: findTools(),
    files: sandboxFiles(),
  };
  return known;
}

/** The walls that the configuration asks for. Throws if it requires walls that this machine cannot build. */
export async function buildWalls(config: CreelConfig["sandbox"], lanes: number): Promise<WallsPlan> {
  const wanted = wallsWanted(config, lanes);
  const plan = await findWalls(wanted);
  const open = plan.layers.find(({ name, isOn }) => !isOn && REQUIRED.some((required) => required === name));
  if (open && wanted.walls === "required") throw new CreelError("ERR_SANDBOX_WALLS", { detail: open.why });
  return plan;
}

/** The strongest plan that works here. Probed once per process. */
export async function findWalls(wanted: WallsWanted): Promise<WallsPlan> {
  const key = `${wanted.walls} ${wanted.jitless}`;
  let probe = probes.get(key);
  if (!probe) probes.set(key, (probe = probeAll(capabilities(), wanted)));
  const { attempt, failures } = await probe;
  return planWalls(capabilities(), wanted, attempt, failures);
}

/** As `findWalls`, for other capabilities, and without remembering the result. */
export async function probeWalls(on: Capabilities, wanted: WallsWanted): Promise<WallsPlan> {
  const { attempt, failures } = await probeAll(on, wanted);
  return planWalls(on, wanted, attempt, failures);
}

interface ProbeResult {
  readonly attempt: Attempt;
  readonly failures: Failures;
}

/** Tries plans from the strongest to the first that works. */
async function probeAll(on: Capabilities, wanted: WallsWanted): Promise<ProbeResult> {
  const failures = new Map<Wrapper | "permission", string>();
  const steps = attempts(on, wanted);
  for (const attempt of steps.slice(0, -1)) {
    const failure = await probePlan(planWalls(on, wanted, attempt, failures));
    if (failure === undefined) return { attempt, failures };
    failures.set(attempt.wrapper === "none" ? "permission" : attempt.wrapper, failure);
  }
  // The last one needs no probe: if it does not work either, the host reports that when it starts.
  return { attempt: steps.at(-1)!, failures };
}

/** Undefined: the plan works. Otherwise the last line of its error output. */
async function probePlan(plan: WallsPlan): Promise<string | undefined> {
  const { child, kill } = spawnSandbox(plan, [SELF_TEST], ["ignore", "pipe", "pipe"]);
  const late = setTimeout(kill, LIMITS.sandbox.startMs);
  let [isFine, said] = [false, ""];
  child.stdout!.on("data", () => {
    isFine = true;
    kill();
  });
  child.stderr!.on("data", (chunk: Buffer) => (said = `${said}${chunk.toString("utf8")}`.slice(-2_000)));
  try {
    const [code, signal] = (await once(child, "close")) as [number | null, string | null];
    if (isFine) return undefined;
    return errorLine(said) ?? (signal ? `ended by ${signal}` : `exited with ${code}`);
  } catch (error) {
    return (error as Error).message;
  } finally {
    clearTimeout(late);
  }
}

/** The line that says what is wrong: that of an error, if Node wrote one, or the last. */
function errorLine(said: string): string | undefined {
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
  const names: Tool[] = [...new Set([...WRAPPER_TOOLS.bwrap, ...WRAPPER_TOOLS.unshare, "prlimit" as const])];
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
