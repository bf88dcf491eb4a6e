/**
 * Trusted side: a copy of a state folder for a replay, in a folder for temporary files that its owner alone can enter. The live folder is
 * only read. Left out is what would act or grow by itself: jobs, undelivered events, logs, recordings.
 */
import { constants } from "node:fs";
import { copyFile, cp, lstat, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Everything else in the folder is not copied. */
const WHOLE = ["creel.lock", "quarantine.json", "approvals.json", "store"];
const DATABASES = ["kv", "volumes"];

export class ReplayState implements AsyncDisposable {
  readonly dir: string;

  private constructor(dir: string) {
    this.dir = dir;
  }

  static async copyOf(stateDir: string | undefined): Promise<ReplayState> {
    // mkdtemp makes a folder of mode 0700.
    const state = new ReplayState(await mkdtemp(join(tmpdir(), "creel-replay-")));
    try {
      if (stateDir !== undefined) await state.#copy(stateDir);
      return state;
    } catch (error) {
      await state[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.dir, { recursive: true, force: true });
  }

  async #copy(from: string): Promise<void> {
    for (const name of WHOLE) {
      const path = join(from, name);
      if (await lstat(path).catch(() => undefined))
        await cp(path, join(this.dir, name), { recursive: true, mode: constants.COPYFILE_FICLONE });
    }
    for (const folder of DATABASES) {
      const names = await readdir(join(from, folder)).catch(() => []);
      await mkdir(join(this.dir, folder), { recursive: true });
      for (const name of names.filter((one) => one.endsWith(".sqlite")))
        await copyDatabase(join(from, folder, name), join(this.dir, folder, name));
    }
  }
}

/** A host may be writing: then SQLite makes the copy. Otherwise nothing is opened there, so that not even a file of SQLite's own appears. */
async function copyDatabase(from: string, to: string): Promise<void> {
  if (!(await lstat(`${from}-wal`).catch(() => undefined))) return copyFile(from, to);
  const live = new DatabaseSync(from, { readOnly: true, timeout: 5_000 });
  try {
    live.prepare("VACUUM INTO ?").run(to);
  } finally {
    live.close();
  }
}
