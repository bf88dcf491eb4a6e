/**
 * Trusted side: folders for plugins that are being fetched and looked at, which takes as long as an operator thinks. So the mutex of the
 * state is not held meanwhile. Each has a mutex of its own, which its owner holds: one that can be taken belongs to nobody any more.
 */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { randomName } from "./durable.ts";
import { Mutex } from "./mutex.ts";

export interface Workspace extends Disposable {
  readonly path: string;
}

/** For whoever holds the mutex of the state: between a folder and its own mutex, nobody else looks. */
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

/** For whoever holds the mutex of the state. */
export function clearWorkspaces(dir: string): void {
  for (const name of readdirSync(join(dir, "work"))) {
    const root = join(dir, "work", name);
    if (isAbandoned(root)) remove(root);
  }
}

/** Its owner and whoever clears up may be at it at once. What is left is left for the next. */
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
