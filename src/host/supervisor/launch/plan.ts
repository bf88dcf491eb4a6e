/**
 * Trusted side: plans the walls around a sandbox process: how the process is started, and which layers are then on. It
 * uses what the machine has and what the operator wants, and starts nothing itself. probe.ts finds out whether a plan
 * works.
 */
import type { CreelConfig } from "../../../protocol/config/config.ts";
import { LOAD, OWN_SCHEDSTAT, OWN_STAT, OWN_SYSCALL } from "../../../transport/inherited-fds.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import { WRAPPER_PROCESSES, WRAPPER_TOOLS, WRAPPERS, wrapperCommand } from "./wrappers.ts";
import type { Wrapper, Tools } from "./wrappers.ts";
import { meaningOf } from "./kernel-errors.ts";
import type { SandboxFiles } from "./sandbox-files.ts";

/** How a sandbox process is started. The entry file and its arguments follow `args`. */
export interface WallsPlan {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The part of `args` that Node gets. */
  readonly flags: readonly string[];
  /** Processes between the one that is started and Node: a wrapper that forks stays until Node ends. */
  readonly wrappers: number;
  readonly layers: readonly Layer[];
}

/** One barrier between a compromised sandbox process and the machine. */
export interface Layer {
  readonly name: LayerName;
  /** What it does, for operators. */
  readonly what: string;
  readonly isOn: boolean;
  /** If on: by what means. */
  readonly by?: string;
  /** If off: the reason, and what the operator can do, if anything. */
  readonly why?: string;
  readonly fix?: string;
}

const LAYERS = {
  environment: "sees no variable of the gateway's environment",
  handles: "has no open file or socket except its own links to the gateway",
  network: "has no network, not even loopback",
  files: "sees no files except its own code and system libraries, and can change none",
  processes: "sees and can signal no processes except its own",
  privileges: "has no privileges, and cannot gain any by running another program",
  permission: "Node refuses to read other files, to write, to start programs",
  hardening: "Node's own realm has no eval, no __proto__, and no debugger that a signal could start",
  jitless: "V8 generates no machine code at run time, so most of its known exploits do not apply",
  memory: "is ended when it exceeds its memory limit",
  memoryHard: "has a memory limit that the kernel enforces by itself",
  dumps: "leaves no memory on disk when it crashes",
} as const;
export type LayerName = keyof typeof LAYERS;

/** Without these a compromised sandbox process reaches the machine, so `sandbox.walls: "required"` insists on them. */
export const REQUIRED = ["network", "files", "processes", "privileges"] as const satisfies readonly LayerName[];

type SandboxConfig = NonNullable<CreelConfig["sandbox"]>;
export type WallsWanted = { readonly [K in "walls" | "jitless" | "memoryMb"]-?: NonNullable<SandboxConfig[K]> } & {
  readonly lanes: number;
};

/** Only when run from source; the package has no such file. */
const COMPILE_CACHE = new URL("../../../../scripts/compile-cache.mjs", import.meta.url).href;

/** The configuration, with defaults. */
export function wallsWanted(config: SandboxConfig = {}, lanes = 1): WallsWanted {
  const { walls = "auto", jitless = false, memoryMb = LIMITS.sandbox.memoryMb } = config;
  return { walls, jitless, memoryMb, lanes };
}

/** What the machine has to build walls with. */
export interface Capabilities {
  readonly platform: NodeJS.Platform;
  readonly node: string;
  readonly timeZone: string;
  /** Run from TypeScript sources, which need WebAssembly, which needs a compiler. */
  readonly isSource: boolean;
  readonly tools: Tools;
  readonly files: SandboxFiles;
}

/** Which walls a plan tries to build. */
export interface Attempt {
  readonly wrapper: Wrapper | "none";
  readonly permission: boolean;
}
/** What failed before, and why. */
export type Failures = ReadonlyMap<Wrapper | "permission", string>;

/** The strongest first. */
export function attempts({ platform, tools }: Capabilities, { walls }: WallsWanted): Attempt[] {
  if (walls === "none") return [{ wrapper: "none", permission: false }];
  const wrappers = platform === "linux" ? WRAPPERS.filter((wrapper) => missing(wrapper, tools).length === 0) : [];
  return [true, false].flatMap((permission) => [...wrappers, "none" as const].map((wrapper) => ({ wrapper, permission })));
}

export function planWalls(capabilities: Capabilities, wanted: WallsWanted, attempt: Attempt, failures: Failures): WallsPlan {
  const { tools, files, node, timeZone } = capabilities;
  const { wrapper, permission } = attempt;
  const isHardened = wanted.walls !== "none";
  const jitless = wanted.jitless && !capabilities.isSource;
  const limits = capabilities.platform === "linux" && isHardened && tools.prlimit !== undefined ? rlimits(wanted, jitless) : [];
  const flags = [
    // isolated-vm's manual asks for --no-node-snapshot. Version 7 does not need it on Node 24 (thread isolation never
    // had it), and it doubles the start time.
    "--disable-warning=ExperimentalWarning",
    "--disable-warning=SecurityWarning",
    ...(isHardened ? ["--disable-sigusr1", "--disable-proto=throw"] : []),
    ...(permission ? permissionFlags(files) : []),
    ...(capabilities.isSource && !isHardened ? ["--import", COMPILE_CACHE] : []),
    // Any flag of V8 makes Node ignore its code cache, so a start takes half as long again.
    ...(jitless ? ["--jitless"] : []),
  ];
  const [command, ...args] = [
    ...(limits.length > 0 ? [tools.prlimit!, ...limits, "--"] : []),
    ...(wrapper === "none" ? [] : wrapperCommand(wrapper, tools, files.visible, files.home)),
    node,
    ...flags,
  ];
  return {
    command: command!,
    args,
    // SECURITY: Node's permission model lets threads read all of the working directory. test/escape/walls.test.ts
    cwd: files.home,
    // SECURITY: none of our environment, so none of our secrets. Plugins see the gateway's time zone, as they do on
    // threads. test/escape/process.test.ts
    env: { TZ: timeZone },
    flags,
    wrappers: wrapper === "none" ? 0 : WRAPPER_PROCESSES,
    layers: layersOf(capabilities, wanted, attempt, failures),
  };
}

function permissionFlags({ readable }: SandboxFiles): string[] {
  // SECURITY: /proc/self/task/*/root leads to every file, so each thread may only open its own few files, by their
  // names. test/escape/walls.test.ts
  const kernel = [LOAD, OWN_STAT, OWN_SCHEDSTAT, OWN_SYSCALL];
  return ["--permission", "--allow-worker", "--allow-addons", ...[...readable, ...kernel].map((path) => `--allow-fs-read=${path}`)];
}

/**
 * Address space that a process without a compiler takes at start, and that a lane takes, with some room. Measured: 0.95
 * GB, and 35 to 65 MB a lane.
 */
const ADDRESSES_MB = 1_536;
const ADDRESSES_OF_LANE_MB = 96;

/** Longer than a file of the shared-memory channel, and than anything a wrapper writes before Node starts. */
const FILE_BYTES = 2 ** 20;

function rlimits(wanted: WallsWanted, jitless: boolean): string[] {
  // SECURITY: the only files that the process can write are in memory; this bounds how much it can take that way.
  // test/host/supervisor/launch/wrappers.test.ts
  return ["--core=0", `--fsize=${FILE_BYTES}`, ...(jitless ? [`--as=${addressMb(wanted) * 2 ** 20}`] : [])];
}

function addressMb({ memoryMb, lanes }: WallsWanted): number {
  return memoryMb + ADDRESSES_MB + lanes * ADDRESSES_OF_LANE_MB;
}

function missing(wrapper: Wrapper, tools: Tools): string[] {
  return WRAPPER_TOOLS[wrapper].filter((tool) => tools[tool] === undefined);
}

type LayerState = Omit<Layer, "name" | "what">;
const on = (by: string): LayerState => ({ isOn: true, by });
const off = (why: string, fix?: string): LayerState => ({ isOn: false, why, ...(fix !== undefined && { fix }) });

function layersOf(capabilities: Capabilities, wanted: WallsWanted, attempt: Attempt, failures: Failures): Layer[] {
  const wrapper = wrapperState(capabilities, attempt, failures);
  const states: Record<LayerName, LayerState> = {
    environment: on("the process is started with the time zone and nothing else"),
    handles: on("the process inherits nothing else"),
    network: wrapper,
    files: wrapper,
    processes: wrapper,
    privileges: wrapper,
    permission: attempt.permission
      ? on("Node's permission model, which stops mistakes but not machine code")
      : off(`the sandbox did not start with it: ${failures.get("permission")}`),
    hardening: on("flags of Node, and code of the sandbox"),
    jitless: jitlessState(capabilities, wanted),
    memory:
      capabilities.platform === "linux"
        ? on(`the gateway measures it; ${wanted.memoryMb} MB`)
        : off("only Linux reports the memory of a process"),
    memoryHard: memoryHardState(capabilities, wanted),
    dumps: capabilities.tools.prlimit === undefined ? off("prlimit is not installed", "install util-linux") : on("prlimit"),
  };
  const isOpen = wanted.walls === "none";
  const optional = new Set<LayerName>(["permission", "hardening", "dumps", ...REQUIRED]);
  return Object.entries(LAYERS).map(([key, what]) => {
    const name = key as LayerName;
    const state = isOpen && optional.has(name) ? off("the configuration turns it off", 'set sandbox.walls to "auto"') : states[name];
    return { name, what, ...state };
  });
}

function wrapperState({ platform, tools }: Capabilities, { wrapper }: Attempt, failures: Failures): LayerState {
  if (wrapper !== "none") return on(wrapper === "bwrap" ? "bubblewrap" : "unshare");
  if (platform !== "linux") return off("only available on Linux", "run the gateway in its own virtual machine or container");
  const meanings = WRAPPERS.flatMap((one) => meaningOf(failures.get(one) ?? "") ?? []);
  const reasons = WRAPPERS.map((one) => {
    const lacks = missing(one, tools);
    if (lacks.length > 0) return `${lacks.join(", ")} not installed`;
    const said = failures.get(one) ?? "";
    const meaning = meaningOf(said);
    return meaning ? `${one}: ${meaning.why} (${said})` : `${one} failed: ${said}`;
  });
  // A restriction that stops unshare stops bubblewrap as well.
  const remedies = [...new Set(meanings.map(({ fix }) => fix))];
  const install = missing("bwrap", tools).length > 0 && remedies.length === 0 ? ["install bubblewrap"] : [];
  const allow = remedies.length === 0 ? ["allow this user to create user namespaces"] : remedies;
  return off(reasons.join("; "), `${[...install, ...allow].join(", or ")} ("creel help operating" has more, under Walls)`);
}

function jitlessState({ isSource }: Capabilities, { jitless }: WallsWanted): LayerState {
  if (!jitless) return off("not enabled", "set sandbox.jitless to true; loops and regular expressions get slower");
  return isSource ? off("TypeScript sources cannot run without a compiler", "use the built package") : on("a flag of V8");
}

function memoryHardState({ platform, tools, isSource }: Capabilities, wanted: WallsWanted): LayerState {
  const { jitless, walls } = wanted;
  const cgroup = "give the gateway a memory limit (systemd: MemoryMax=, Docker: --memory)";
  if (platform !== "linux") return off("only available on Linux");
  if (!jitless || isSource)
    return off("with a compiler each plugin reserves half a gigabyte of address space, so a limit on it would mean nothing", cgroup);
  if (tools.prlimit === undefined || walls === "none") return off("prlimit is not used", cgroup);
  return on(`prlimit; ${addressMb(wanted)} MB of address space`);
}
