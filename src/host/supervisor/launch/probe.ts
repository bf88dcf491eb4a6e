/**
 * Trusted side: finds out what this machine has to build walls with, and whether they work. Each plan is tried once per
 * process: by the first sandbox process of the first host, which is then that host's, or, where no host opens, by a real Node that loads what a
 * sandbox loads. What fails is left out, and the reason kept for `creel doctor`.
 */
import { once } from "node:events";
import { accessSync, constants, readlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CreelError } from "../../../protocol/errors.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import { PROTOCOL_VERSION } from "../../../protocol/messages/host-lane.ts";
import type { Hello } from "../../../protocol/messages/host-lane.ts";
import { pack } from "../../../transport/frames.ts";
import type { LaneUnit } from "../unit.ts";
import { startProcessUnit } from "./process-unit.ts";
import { WRAPPER_TOOLS } from "./wrappers.ts";
import type { Wrapper, Tool, Tools } from "./wrappers.ts";
import { sandboxFiles } from "./sandbox-files.ts";
import { spawnSandbox } from "./spawn.ts";
import { attempts, planWalls, REQUIRED } from "./plan.ts";
import type { Attempt, Failures, Capabilities, WallsPlan, WallsWanted } from "./plan.ts";

const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf("."));
const SELF_TEST = fileURLToPath(new URL(`../../../sandbox/process/self-test${EXTENSION}`, import.meta.url));

/** A lane answers it as it answers a host's, which then sends its own. */
const TRIAL = pack({ kind: "hello", version: PROTOCOL_VERSION, rules: {} } satisfies Hello, "");

let known: Capabilities | undefined;
const probes = new Map<string, Promise<ProbeResult>>();

/** What the machine has, looked up once. */
export function capabilities(): Capabilities {
  known ??= {
    platform: process.platform,
    node: process.execPath,
    timeZone: timeZone(),
    isSource: EXTENSION === ".ts",
    tools: findTools(),
    files: sandboxFiles(),
  };
  return known;
}

export interface BuiltWalls {
  readonly wanted: WallsWanted;
  readonly plan: WallsPlan;
  /** Runs behind these walls already, and has shown that they work; undefined: that was known. */
  readonly unit: LaneUnit | undefined;
}

/**
 * The walls that the configuration asks for. Throws if it requires walls that this machine cannot build. `lanes`: of the unit, if one is to be
 * started where that is the way to find out.
 */
export async function buildWalls(wanted: WallsWanted, lanes?: number): Promise<BuiltWalls> {
  let unit: LaneUnit | undefined;
  const plan = await findWalls(
    wanted,
    lanes === undefined
      ? undefined
      : async (tried) => {
          const trial = await tryUnit(tried, lanes);
          if (typeof trial === "string") return trial;
          unit = trial;
          return undefined;
        },
  );
  const open = plan.layers.find(({ name, isOn }) => !isOn && REQUIRED.some((required) => required === name));
  if (!open || wanted.walls !== "required") return { wanted, plan, unit };
  await unit?.close();
  throw new CreelError("ERR_SANDBOX_WALLS", { detail: open.why });
}

/** Undefined: the plan works. Otherwise what was wrong. */
type Probe = (plan: WallsPlan) => Promise<string | undefined>;

/** The strongest plan that works here. Probed once per process. */
export async function findWalls(wanted: WallsWanted, probe: Probe = probePlan): Promise<WallsPlan> {
  const key = `${wanted.walls} ${wanted.jitless}`;
  let result = probes.get(key);
  if (!result) {
    probes.set(key, (result = probeAll(capabilities(), wanted, probe)));
    // What could not even be tried, for want of descriptors for example, may work later.
    result.catch(() => probes.delete(key));
  }
  const { attempt, failures } = await result;
  return planWalls(capabilities(), wanted, attempt, failures);
}

/** As `findWalls`, for other capabilities, and without remembering the result. */
export async function probeWalls(on: Capabilities, wanted: WallsWanted): Promise<WallsPlan> {
  const { attempt, failures } = await probeAll(on, wanted, probePlan);
  return planWalls(on, wanted, attempt, failures);
}

interface ProbeResult {
  readonly attempt: Attempt;
  readonly failures: Failures;
}

/** Tries plans from the strongest to the first that works. */
async function probeAll(on: Capabilities, wanted: WallsWanted, probe: Probe): Promise<ProbeResult> {
  const failures = new Map<Wrapper | "permission", string>();
  const steps = attempts(on, wanted);
  for (const attempt of steps.slice(0, -1)) {
    const failure = await probe(planWalls(on, wanted, attempt, failures));
    if (failure === undefined) return { attempt, failures };
    failures.set(attempt.wrapper === "none" ? "permission" : attempt.wrapper, failure);
  }
  // The last one needs no probe: if it does not work either, the host reports that when it starts.
  return { attempt: steps.at(-1)!, failures };
}

/** A unit behind these walls whose lanes all answer, or what was wrong. It has run no plugin, so it is as good as a fresh one. */
async function tryUnit(plan: WallsPlan, lanes: number): Promise<LaneUnit | string> {
  const unit = startProcessUnit(lanes, plan);
  const answers = unit.links.map(
    (link) =>
      new Promise<void>((answered) => {
        link.onFrames(() => answered());
        link.send([TRIAL]);
      }),
  );
  const late = setTimeout(() => unit.kill(), LIMITS.sandbox.startMs);
  const ended = await Promise.race([Promise.all(answers).then(() => undefined), unit.ended]);
  clearTimeout(late);
  if (ended === undefined) return unit;
  await unit.close();
  return errorLine(unit.said!()) ?? ended;
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

const ZONE = /^[A-Za-z][\w+-]*(?:\/[\w+-]+)*$/;

/** Of this process. `Intl` takes 10 ms to find out what nearly every machine says in one of two places. */
export function timeZone(link = "/etc/localtime"): string {
  const { TZ: given } = process.env;
  let zone = given;
  try {
    zone ??= /\/zoneinfo\/(.+)$/.exec(readlinkSync(link))?.[1];
  } catch {
    // There is none, or it is a copy.
  }
  return zone !== undefined && ZONE.test(zone) ? zone : new Intl.DateTimeFormat().resolvedOptions().timeZone;
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
