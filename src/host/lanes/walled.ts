/**
 * Trusted side: starts a Node process by a plan of walls, with the descriptors it is given and no others. The fence, what it starts and
 * Node are a group, and are killed as one, so that none of them is left waiting for another.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { withOnly } from "./descriptors.ts";
import type { Stdio } from "./descriptors.ts";
import { withSlackClocks } from "./timer-slack.ts";
import type { WallsPlan } from "./walls.ts";

export interface Walled {
  readonly child: ChildProcess;
  /** Ends all of it at once. May be called again and again. */
  readonly kill: () => void;
}

export function startWalled({ command, args, cwd, env, wrappers }: WallsPlan, entry: readonly string[], wanted: Stdio): Walled {
  const isGroup = wrappers > 0;
  // SECURITY: it inherits what is listed here and nothing else. test/escape/process.test.ts
  const child = withOnly(wanted, (stdio) => withSlackClocks(() => spawn(command, [...args, ...entry], { cwd, env, stdio })));
  const kill = (): void => {
    if (isGroup && child.pid !== undefined) killGroup(child.pid);
    // It may not have come to make the group yet.
    child.kill("SIGKILL");
  };
  // Whoever of the group outlived the one that was started.
  if (isGroup) child.once("exit", kill);
  return { child, kill };
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // Nobody is left of it.
  }
}
