/** What commands cost against an empty Node: CPU time, in interleaved rounds. */
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

/** `bin`: the `creel` command for `node`, in a folder with one installed plugin. */
export function commandCosts(bin: string, plugin: string, cwd: string, rounds: number, env?: NodeJS.ProcessEnv): CommandCost[] {
  const commands = [
    { name: "node", args: ["-e", "0"] },
    ...Object.keys(MOST).map((name) => ({ name, args: [bin, name, ...(name === "inspect" ? [plugin] : [])] })),
  ];
  const times = new Map<string, number[]>(commands.map(({ name }) => [name, []]));
  // The first round fills caches.
  for (let round = 0; round <= rounds; round++)
    for (const { name, args } of shuffle([...commands])) {
      const ms = cpuMs([process.execPath, ...args], cwd, env);
      if (round > 0) times.get(name)!.push(ms);
    }
  const node = median(times.get("node")!);
  return Object.entries(MOST).map(([name, most]) => {
    const ms = median(times.get(name)!);
    return { name, ms, ratio: ms / node, most };
  });
}
