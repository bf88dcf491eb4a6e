/** Deletes what an uninstalled plugin stored: its key-value store, its files and its jobs. */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { databaseName } from "../../host/services/kv/kv.ts";

export interface Stored {
  /** Relative to the state folder. */
  readonly files: readonly string[];
  readonly jobs: number;
}

/** Undefined: nothing. */
export function storedOf(stateDir: string, id: string): Stored | undefined {
  const files = filesOf(stateDir, id);
  const jobs = jobsOf(stateDir, id);
  return files.length > 0 || jobs > 0 ? { files, jobs } : undefined;
}

function filesOf(stateDir: string, id: string): string[] {
  const name = `${databaseName(id)}.sqlite`;
  return ["kv", "volumes"].flatMap((folder) => {
    const path = join(stateDir, folder);
    if (!existsSync(path)) return [];
    // SQLite keeps its log and its index beside the database.
    return readdirSync(path)
      .filter((file) => file === name || file.startsWith(`${name}-`))
      .map((file) => join(folder, file));
  });
}

export function purge(stateDir: string, id: string): Stored {
  const files = filesOf(stateDir, id);
  for (const file of files) rmSync(join(stateDir, file), { force: true });
  return { files, jobs: withJobs(stateDir, (database) => Number(database.prepare("DELETE FROM job WHERE plugin = ?").run(id).changes)) };
}

function jobsOf(stateDir: string, id: string): number {
  try {
    return withJobs(stateDir, (database) => Number(database.prepare("SELECT count(*) AS jobs FROM job WHERE plugin = ?").get(id)!.jobs));
  } catch {
    // A damaged database is for "creel doctor" to report; removing the plugin does not need it.
    return 0;
  }
}

function withJobs(stateDir: string, work: (database: DatabaseSync) => number): number {
  const path = join(stateDir, "schedule.sqlite");
  if (!existsSync(path)) return 0;
  using database = new DatabaseSync(path, { timeout: 2_000 });
  return work(database);
}
