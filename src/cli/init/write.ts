/** Puts the files of a new plugin into a folder. Never over a file that is there: then nothing is written at all. */
import { access, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../options.ts";

export async function writeNew(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  const names = Object.keys(files);
  const there = await Promise.all(
    names.map((name) =>
      access(join(folder, name)).then(
        () => true,
        () => false,
      ),
    ),
  );
  const taken = names.filter((_, at) => there[at]);
  if (taken.length > 0)
    throw new UsageError(`${folder} has ${taken.join(", ")} already, and nothing is overwritten`, "name another folder, or move them away");
  await mkdir(folder, { recursive: true });
  // `wx`: one that has come meanwhile is not overwritten, either.
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { flag: "wx" });
}
