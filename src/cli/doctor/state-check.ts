/**
 * Checks the state folder: its permissions, the lock, every file of every plugin against the lock, leftovers, and the
 * databases. Changes nothing.
 */
import { access, constants, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isBusy } from "../../host/storage/database.ts";
import { systemError } from "../../os/system-error.ts";
import { CreelError } from "../../protocol/errors.ts";
import { bundleOf } from "../../state/bundle-files.ts";
import type { LockEntry } from "../../state/lock.ts";
import type { State } from "../../state/state.ts";
import { broken, ok, warn } from "./check.ts";
import type { Check } from "./check.ts";

/** Files with grants or conversation data, which other users must not read. */
const PRIVATE = [
  "creel.lock",
  "quarantine.json",
  "schedule.sqlite",
  "kv",
  "volumes",
  "store",
  "staging",
  "work",
  "retired",
  "audit",
  "approvals.json",
  "recordings",
];

export async function folderChecks(dir: string): Promise<Check[]> {
  const checks: Check[] = [];
  for (const path of [dir, ...PRIVATE.map((name) => join(dir, name))]) {
    const found = await lstat(path).catch(() => undefined);
    if (!found) continue;
    const mode = found.mode & 0o777;
    const is = `has mode ${mode.toString(8).padStart(4, "0")}`;
    const fix = `chmod go-rwx ${path}`;
    if (found.isSymbolicLink())
      checks.push(
        broken("state", `${path} is a symbolic link, whose target its creator controls`, "replace it with a real file or folder", path),
      );
    else if (process.getuid && found.uid !== process.getuid())
      checks.push(broken("state", `${path} belongs to another user (${found.uid})`, `chown ${process.getuid()} ${path}`, path));
    else if ((mode & 0o022) !== 0) checks.push(broken("state", `${path} ${is}: others can write it`, fix, path));
    // If others cannot enter the folder, they cannot read the files inside.
    else if (path === dir && (mode & 0o055) !== 0) checks.push(warn("state", `${path} ${is}: others can read it`, fix, path));
  }
  if (checks.length > 0) return checks;
  const error = await access(dir, constants.R_OK | constants.W_OK).then(
    () => undefined,
    (failed: unknown) => systemError(failed, () => dir),
  );
  return [error ? broken("state", error.message, error.fix, dir) : ok("state", `only you can read and write ${dir}`)];
}

export interface LockFindings {
  readonly checks: Check[];
  readonly entries: readonly LockEntry[];
  /** By id, of those whose files are intact. */
  readonly manifests: ReadonlyMap<string, unknown>;
}

export async function lockChecks(state: State): Promise<LockFindings> {
  const manifests = new Map<string, unknown>();
  let entries: LockEntry[];
  try {
    entries = [...(await state.read()).values()];
  } catch (error) {
    return { checks: [complaint("lock", error)], entries: [], manifests };
  }
  const checks: Check[] = [];
  for (const { id, enabled } of entries) {
    try {
      const loaded = await state.load(id);
      bundleOf(loaded);
      manifests.set(id, loaded.manifest);
    } catch (error) {
      const one = complaint("lock", error);
      // A disabled plugin is not loaded.
      checks.push(enabled ? one : { ...one, status: "warn" });
    }
  }
  const intact = `${entries.length - checks.length} of ${entries.length} installed plugins are byte for byte what was accepted`;
  if (checks.length === 0) checks.push(ok("lock", entries.length === 0 ? "no plugin is installed" : intact));
  return { checks: [...checks, ...(await orphanChecks(state.dir, entries))], entries, manifests };
}

/** Leftovers of killed commands, and files that were never removed. */
async function orphanChecks(dir: string, entries: readonly LockEntry[]): Promise<Check[]> {
  const names = async (folder: string): Promise<string[]> => readdir(join(dir, folder)).catch(() => []);
  const used = new Set(entries.map(({ store }) => store));
  const retired = new Set(await names("retired"));
  const orphans = (await names("store")).filter((name) => !used.has(name) && !retired.has(name));
  const left = [...(await names("staging")), ...(await names("work"))];
  const checks: Check[] = [];
  if (orphans.length > 0)
    checks.push(
      warn(
        "lock",
        `${orphans.length} folders of the store belong to no plugin of the lock (${orphans[0]}${orphans.length > 1 ? ", …" : ""})`,
        "nothing to do: the next change removes them; after restoring a backup, check that the lock is from the same backup",
        join(dir, "store"),
      ),
    );
  if (left.length > 0)
    checks.push(
      warn(
        "lock",
        `${left.length} unfinished installations were left behind`,
        "nothing to do: the next install removes them, unless one is running now",
        join(dir, "work"),
      ),
    );
  return checks;
}

export async function storeChecks(dir: string): Promise<Check[]> {
  const inside = async (folder: string): Promise<string[]> =>
    (await readdir(join(dir, folder)).catch(() => [])).map((name) => join(dir, folder, name));
  const all = [...(await inside(".")), ...(await inside("kv")), ...(await inside("volumes"))];
  const aside = all.filter((path) => /\.broken-[^/]*$/.test(path) && !/-(?:wal|shm)$/.test(path));
  const files = all.filter((path) => path.endsWith(".sqlite"));
  const checks = [
    ...files.flatMap(databaseCheck),
    ...aside.map((path) =>
      warn(
        "stores",
        `${path} was set aside because it is damaged; plugins do not see its data`,
        "repair it with sqlite3, or delete it",
        path,
      ),
    ),
  ];
  return checks.length > 0
    ? checks
    : [
        ok(
          "stores",
          files.length === 0
            ? "no plugin has stored data yet"
            : files.length === 1
              ? "1 database is intact"
              : `${files.length} databases are intact`,
        ),
      ];
}

/** Nothing, if it is sound. */
function databaseCheck(path: string): Check[] {
  const fix =
    "stop the gateway and restore a backup; without a backup, leave the file: the gateway sets it aside and the plugin starts with an empty store";
  try {
    using database = new DatabaseSync(path, { readOnly: true, timeout: 2_000 });
    const rows = database.prepare("PRAGMA quick_check(1)").all() as { quick_check: string }[];
    const [first] = rows;
    return first?.quick_check === "ok" ? [] : [broken("stores", `${path} is damaged: ${first?.quick_check ?? "no answer"}`, fix, path)];
  } catch (error) {
    const { message } = error as Error;
    if (isBusy(error)) return [warn("stores", `${path} is locked by another process`, "try again later", path)];
    return [broken("stores", `${path} cannot be read: ${message}`, fix, path)];
  }
}

function complaint(area: Check["area"], error: unknown): Check {
  if (!(error instanceof CreelError)) throw error;
  const { file, dir } = error.params;
  const where = [file, dir].find((path) => typeof path === "string");
  return broken(area, error.message, error.fix, where);
}
