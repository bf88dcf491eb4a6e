/**
 * Trusted side: the walls around a sandbox process. Plans, from what the machine has and what the operator wants, how the
 * process is started and which layers are then on; starts nothing itself.
 */

/** How a sandbox process is started. The entry file and its arguments follow `args`. */
export interface WallsPlan {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Processes between the one that is started and Node: a wrapper that forks stays, and dies with it. */
  readonly wrappers: number;
}

/** Given to Node in any case: what isolated-vm asks for, and no word about type stripping. */
const NODE_FLAGS = ["--no-node-snapshot", "--disable-warning=ExperimentalWarning"] as const;

/** A plain child. */
export function plainWalls(): WallsPlan {
  // SECURITY: no environment of ours, so no secret of ours. test/escape/process.test.ts
  return { command: process.execPath, args: NODE_FLAGS, env: {}, wrappers: 0 };
}
