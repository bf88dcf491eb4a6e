/** What commands cost against an empty Node, in interleaved rounds. */
import { spawnSync } from "node:child_process";
import { median, shuffle } from "../src/cli/bench/statistics.ts";
import { cpuMs } from "./cpu-time.ts";

/** What each may take at most, as a multiple of an empty Node. */
const MOST = { "--help": 2, list: 3, inspect: 5, doctor: 15 } as const;

export interface CommandCost {
  readonly name: string;
  /** The median. */
  readonly ms: number;
  readonly ratio: number;
  readonly most: number;
}

/** What a run of a command took. */
export type Clock = (command: readonly string[], cwd: string, env?: NodeJS.ProcessEnv) => number;

/** What `time` shows as "real". Other processes on the machine change it. */
export const wallMs: Clock = ([command, ...args], cwd, env) => {
  const begun = performance.now();
  const { status, stderr } = spawnSync(command!, args, { cwd, env, encoding: "utf8", stdio: ["ignore", "ignore", "pipe"] });
  const ms = performance.now() - begun;
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr}`);
  return ms;
};

export interface CostsOptions {
  readonly rounds: number;
  /** CPU time, which other processes hardly change. */
  readonly clock?: Clock;
  readonly env?: NodeJS.ProcessEnv;
}

/** `bin`: the `creel` command for `node`, in a folder with one installed plugin. */
export function commandCosts(bin: string, plugin: string, cwd: string, { rounds, clock = cpuMs, env }: CostsOptions): CommandCost[] {
  const commands = [
    { name: "node", args: ["-e", "0"] },
    ...Object.keys(MOST).map((name) => ({ name, args: [bin, name, ...(name === "inspect" ? [plugin] : [])] })),
  ];
  const times = new Map<string, number[]>(commands.map(({ name }) => [name, []]));
  // The first round fills caches.
  for (let round = 0; round <= rounds; round++)
    for (const { name, args } of shuffle([...commands])) {
      const ms = clock([process.execPath, ...args], cwd, env);
      if (round > 0) times.get(name)!.push(ms);
    }
  const node = median(times.get("node")!);
  return Object.entries(MOST).map(([name, most]) => {
    const ms = median(times.get(name)!);
    return { name, ms, ratio: ms / node, most };
  });
}
