/**
 * Trusted side: starts a Node process by a plan of walls, with the descriptors it is given and no others. Wrapper,
 * helpers and Node are one process group and are killed together, so that none of them is left waiting for another.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { withOnly } from "../../../os/inherited-descriptors.ts";
import type { Stdio } from "../../../os/inherited-descriptors.ts";
import { withTimerSlack } from "../../../os/timer-slack.ts";
import type { WallsPlan } from "./plan.ts";

export interface SpawnedSandbox {
  readonly child: ChildProcess;
  /** Ends the whole group at once. May be called more than once. */
  readonly kill: () => void;
}

export function spawnSandbox({ command, args, cwd, env, wrappers }: WallsPlan, entry: readonly string[], wanted: Stdio): SpawnedSandbox {
  const isGroup = wrappers > 0;
  // SECURITY: the child inherits what is listed here and nothing else. test/escape/process.test.ts
  const child = withOnly(wanted, (stdio) => withTimerSlack(() => spawn(command, [...args, ...entry], { cwd, env, stdio })));
  const kill = (): void => {
    if (isGroup && child.pid !== undefined) killGroup(child.pid);
    // The group may not exist yet.
    child.kill("SIGKILL");
  };
  // Kills members of the group that outlived the process that was started.
  if (isGroup) child.once("exit", kill);
  return { child, kill };
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // The group is empty.
  }
}
