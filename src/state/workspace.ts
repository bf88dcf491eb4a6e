/**
 * Trusted side: folders for plugins that are being fetched and reviewed, which may take as long as an operator thinks,
 * so the mutex of the state is not held meanwhile. Each folder has its own mutex, which its owner holds: a folder whose
 * mutex is free has no owner any more.
 */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { randomName } from "./durable.ts";
import { Mutex } from "./mutex.ts";

export interface Workspace extends Disposable {
  readonly path: string;
}

/** Requires the mutex of the state, so that no other process removes the folder before its own mutex is taken. */
export function openWorkspace(dir: string): Workspace {
  const root = join(dir, "work", randomName());
  const path = join(root, "files");
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const mutex = new Mutex(root);
  mutex.tryToTake();
  return {
    path,
    [Symbol.dispose]() {
      rmSync(path, { recursive: true, force: true });
      mutex[Symbol.dispose]();
      remove(root);
    },
  };
}

/** Requires the mutex of the state. */
export function clearWorkspaces(dir: string): void {
  for (const name of readdirSync(join(dir, "work"))) {
    const root = join(dir, "work", name);
    if (isAbandoned(root)) remove(root);
  }
}

/** Its owner may remove it at the same time. The next cleaning takes the rest. */
function remove(root: string): void {
  try {
    rmSync(root, { recursive: true, force: true });
  } catch {
    // See above.
  }
}

function isAbandoned(root: string): boolean {
  try {
    using mutex = new Mutex(root);
    return mutex.tryToTake();
  } catch {
    // It has just been removed.
    return false;
  }
}
