/** Plugin folders on disk for tests, removed when the test's file is done. Their names differ from those the host makes. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";

const made: string[] = [];
afterAll(() => {
  for (const root of made.splice(0)) rmSync(root, { recursive: true, force: true });
});

/** In memory where there is such a place: for tests that write a lot of files, and wait until each is on the disk. */
export const QUICK = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

export function folder(files: Readonly<Record<string, string>>, where = tmpdir()): string {
  const root = mkdtempSync(join(where, "test-of-creel-"));
  made.push(root);
  write(root, files);
  return root;
}

export function write(root: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}

/** Gives the folder the packages of this repository. */
export function linkModules(root: string): void {
  symlinkSync(join(import.meta.dirname, "../../node_modules"), join(root, "node_modules"));
}
