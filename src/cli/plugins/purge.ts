/** Deletes what an uninstalled plugin stored: its key-value store, its files and its jobs. */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { databaseName } from "../../host/services/kv/kv.ts";

export interface Purged {
  /** Files that were deleted, relative to the state folder. */
  readonly files: readonly string[];
  readonly jobs: number;
}

export function purge(stateDir: string, id: string): Purged {
  const name = `${databaseName(id)}.sqlite`;
  const files = ["kv", "volumes"].flatMap((folder) => {
    const path = join(stateDir, folder);
    if (!existsSync(path)) return [];
    // SQLite keeps its log and its index beside the database.
    return readdirSync(path)
      .filter((file) => file === name || file.startsWith(`${name}-`))
      .map((file) => join(folder, file));
  });
  for (const file of files) rmSync(join(stateDir, file), { force: true });
  return { files, jobs: deleteJobs(join(stateDir, "schedule.sqlite"), id) };
}

function deleteJobs(path: string, id: string): number {
  if (!existsSync(path)) return 0;
  using database = new DatabaseSync(path, { timeout: 2_000 });
  return Number(database.prepare("DELETE FROM job WHERE plugin = ?").run(id).changes);
}
