/**
 * Trusted side: the walls around a sandbox process. Plans, from what the machine has and what the operator wants, how the
 * process is started and which layers are then on; starts nothing itself. That a plan works is tried in machine.ts.
 */
import type { CreelConfig } from "../../protocol/config.ts";
import { LOAD, OWN_SCHEDSTAT, OWN_STAT, TASKS } from "../../protocol/inherited.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { FENCE_PROCESSES, FENCE_TOOLS, FENCES, fenceCommand } from "./fences.ts";
import type { Fence, Tools } from "./fences.ts";
import type { SandboxFiles } from "./sandbox-files.ts";

/** How a sandbox process is started. The entry file and its arguments follow `args`. */
export interface WallsPlan {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Of `args`, what is said to Node. */
  readonly flags: readonly string[];
  /** Processes between the one that is started and Node: a fence that forks stays, and dies with it. */
  readonly wrappers: number;
  readonly layers: readonly Layer[];
}

/** One thing that stands between a plugin that has taken over the sandbox process, and the machine. */
export interface Layer {
  readonly name: LayerName;
  /** What it does, in plain words. */
  readonly what: string;
  readonly isOn: boolean;
  /** On: by what means. */
  readonly by?: string;
  /** Off: the reason, and what the operator can do about it, if anything. */
  readonly why?: string;
  readonly fix?: string;
}

const LAYERS = {
  environment: "no variable of the gateway's environment",
  handles: "no open file or socket but its own ways to the gateway",
  network: "no network, not even this machine's own",
  files: "sees no file but its own code and system libraries, and can change none",
  processes: "sees and can signal no process but its own",
  privileges: "no privilege, and none to be gained by running another program",
  permission: "Node refuses to read other files, to write, to start programs",
  hardening: "Node's own realm has no eval, no __proto__, and no debugger that a signal can start",
  jitless: "V8 makes no machine code at run time, so most of its known exploits do not apply",
  memory: "ended when it takes more memory than it may",
  memoryHard: "a memory limit that the kernel keeps by itself",
  dumps: "its memory is never written to disk when it crashes",
} as const;
export type LayerName = keyof typeof LAYERS;

/** Without them a sandbox that was taken over reaches the machine: what `required` requires. */
export const REQUIRED = ["network", "files", "processes", "privileges"] as const satisfies readonly LayerName[];

type SandboxConfig = NonNullable<CreelConfig["sandbox"]>;
export type WallsWanted = { readonly [K in "walls" | "jitless" | "memoryMb"]-?: NonNullable<SandboxConfig[K]> } & {
  readonly lanes: number;
};

/** For sources alone; the package has no such file. */
const COMPILE_CACHE = new URL("../../sandbox/compile-cache.ts", import.meta.url).href;

/** What the configuration says, and what it leaves open. */
export function wallsWanted(config: SandboxConfig = {}, lanes = 1): WallsWanted {
  const { walls = "auto", jitless = false, memoryMb = LIMITS.sandboxMb } = config;
  return { walls, jitless, memoryMb, lanes };
}

/** What there is to build with. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly node: string;
  readonly timeZone: string;
  /** TypeScript sources need WebAssembly to be run, which needs a compiler. */
  readonly isSource: boolean;
  readonly tools: Tools;
  readonly files: SandboxFiles;
}

/** How far a plan goes. */
export interface Attempt {
  readonly fence: Fence | "none";
  readonly permission: boolean;
}
/** What was tried before and did not work, and why. */
export type Failures = ReadonlyMap<Fence | "permission", string>;

/** From the best to the least. */
export function attempts({ platform, tools }: Machine, { walls }: WallsWanted): Attempt[] {
  if (walls === "none") return [{ fence: "none", permission: false }];
  const fences = platform === "linux" ? FENCES.filter((fence) => missing(fence, tools).length === 0) : [];
  return [true, false].flatMap((permission) => [...fences, "none" as const].map((fence) => ({ fence, permission })));
}

export function planWalls(machine: Machine, wanted: WallsWanted, attempt: Attempt, failures: Failures): WallsPlan {
  const { tools, files, node, timeZone } = machine;
  const { fence, permission } = attempt;
  const isHardened = wanted.walls !== "none";
  const jitless = wanted.jitless && !machine.isSource;
  const limits = machine.platform === "linux" && isHardened && tools.prlimit !== undefined ? rlimits(wanted, jitless) : [];
  const flags = [
    // isolated-vm's manual asks for --no-node-snapshot. Version 7 does not need it on Node 24 (thread isolation never had it), and it doubles the start.
    "--disable-warning=ExperimentalWarning",
    "--disable-warning=SecurityWarning",
    ...(isHardened ? ["--disable-sigusr1", "--disable-proto=throw"] : []),
    ...(permission ? permissionFlags(files, fence) : []),
    ...(machine.isSource && !isHardened ? ["--import", COMPILE_CACHE] : []),
    // A switch of V8's, and each of them costs Node its code cache: a start takes half as long again.
    ...(jitless ? ["--jitless"] : []),
  ];
  const [command, ...args] = [
    ...(limits.length > 0 ? [tools.prlimit!, ...limits, "--"] : []),
    ...(fence === "none" ? [] : fenceCommand(fence, tools, files.visible, files.home)),
    node,
    ...flags,
  ];
  return {
    command: command!,
    args,
    // SECURITY: Node's permission model lets threads read the folder that the process works in, all of it. test/escape/walls.test.ts
    cwd: files.home,
    // SECURITY: no environment of ours, so no secret of ours. Plugins see the gateway's clock, as they do on threads. test/escape/process.test.ts
    env: { TZ: timeZone },
    flags,
    wrappers: fence === "none" ? 0 : FENCE_PROCESSES,
    layers: layersOf(machine, wanted, attempt, failures),
  };
}

function permissionFlags({ readable }: SandboxFiles, fence: Attempt["fence"]): string[] {
  // SECURITY: through /proc/self/task/*/root leads a way to every file there is, so it is open only where a fence is around. test/escape/walls.test.ts
  const kernel = [LOAD, OWN_STAT, OWN_SCHEDSTAT, ...(fence === "none" ? [] : ["/proc/thread-self", TASKS])];
  return ["--permission", "--allow-worker", "--allow-addons", ...[...readable, ...kernel].map((path) => `--allow-fs-read=${path}`)];
}

/** Addresses that a process without a compiler takes before it does anything, those of a lane, and some room. Measured: 0.95 GB, and 35 to 65 MB a lane. */
const ADDRESSES_MB = 1_536;
const ADDRESSES_OF_LANE_MB = 96;

/** A file of letters is shorter; so is what a fence writes before Node is there. */
const FILE_BYTES = 2 ** 20;

function rlimits(wanted: WallsWanted, jitless: boolean): string[] {
  // SECURITY: the one file that it can write is memory, of which it shall not take more this way. test/host/fences.test.ts
  return ["--core=0", `--fsize=${FILE_BYTES}`, ...(jitless ? [`--as=${addressMb(wanted) * 2 ** 20}`] : [])];
}

function addressMb({ memoryMb, lanes }: WallsWanted): number {
  return memoryMb + ADDRESSES_MB + lanes * ADDRESSES_OF_LANE_MB;
}

function missing(fence: Fence, tools: Tools): string[] {
  return FENCE_TOOLS[fence].filter((tool) => tools[tool] === undefined);
}

type Verdict = Omit<Layer, "name" | "what">;
const on = (by: string): Verdict => ({ isOn: true, by });
const off = (why: string, fix?: string): Verdict => ({ isOn: false, why, ...(fix !== undefined && { fix }) });

function layersOf(machine: Machine, wanted: WallsWanted, attempt: Attempt, failures: Failures): Layer[] {
  const fence = fenceVerdict(machine, attempt, failures);
  const verdicts: Record<LayerName, Verdict> = {
    environment: on("the process is started with the time zone and nothing else"),
    handles: on("the process inherits nothing else"),
    network: fence,
    files: fence,
    processes: fence,
    privileges: fence,
    permission: attempt.permission
      ? on("Node's permission model; it holds mistakes back, not machine code")
      : off(`it did not start with it: ${failures.get("permission")}`),
    hardening: on("switches of Node, and the sandbox's own doing"),
    jitless: jitlessVerdict(machine, wanted),
    memory: machine.platform === "linux" ? on(`the gateway looks; ${wanted.memoryMb} MB`) : off("only Linux tells how much it takes"),
    memoryHard: hardVerdict(machine, wanted),
    dumps: machine.tools.prlimit === undefined ? off(`prlimit is not installed`, "install util-linux") : on("prlimit"),
  };
  const isOpen = wanted.walls === "none";
  const optional = new Set<LayerName>(["permission", "hardening", "dumps", ...REQUIRED]);
  return Object.entries(LAYERS).map(([key, what]) => {
    const name = key as LayerName;
    const verdict = isOpen && optional.has(name) ? off("the configuration says so", 'set sandbox.walls to "auto"') : verdicts[name];
    return { name, what, ...verdict };
  });
}

function fenceVerdict({ platform, tools }: Machine, { fence }: Attempt, failures: Failures): Verdict {
  if (fence !== "none") return on(fence === "bwrap" ? "bubblewrap" : "unshare");
  if (platform !== "linux") return off("only Linux has the means", "run the gateway in a virtual machine or a container of its own");
  const reasons = FENCES.map((one) => {
    const lacks = missing(one, tools);
    return lacks.length > 0 ? `${lacks.join(", ")} not installed` : `${one} does not work here: ${failures.get(one)}`;
  });
  const fix = missing("bwrap", tools).length > 0 ? "install bubblewrap, or " : "";
  return off(reasons.join("; "), `${fix}let this user make user namespaces (see docs/operating.md)`);
}

function jitlessVerdict({ isSource }: Machine, { jitless }: WallsWanted): Verdict {
  if (!jitless) return off("not asked for", "set sandbox.jitless to true; loops and regular expressions get slower");
  return isSource ? off("TypeScript sources cannot be run without a compiler", "use the built package") : on("a switch of V8");
}

function hardVerdict({ platform, tools, isSource }: Machine, wanted: WallsWanted): Verdict {
  const { jitless, walls } = wanted;
  const cgroup = "give the gateway a memory limit (systemd: MemoryMax=, Docker: --memory)";
  if (platform !== "linux") return off("only Linux has the means");
  if (!jitless || isSource)
    return off("with a compiler each plugin reserves half a gigabyte of addresses, so that a limit on them means nothing", cgroup);
  if (tools.prlimit === undefined || walls === "none") return off("prlimit is not used", cgroup);
  return on(`prlimit; ${addressMb(wanted)} MB of addresses`);
}
