/**
 * Puts the files of a new plugin into a folder. Never over a file that is there: then nothing is written at all. A .gitignore that
 * is there stays. Gives the names that were written. */
import { access, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../options.ts";

const GITIGNORE = ".gitignore";

export async function writeNew(folder: string, files: Readonly<Record<string, string>>): Promise<string[]> {
  const names = Object.keys(files);
  const there = await Promise.all(
    names.map((name) =>
      access(join(folder, name)).then(
        () => true,
        () => false,
      ),
    ),
  );
  const taken = names.filter((name, at) => there[at] && name !== GITIGNORE);
  if (taken.length > 0)
    throw new UsageError(`${folder} already has ${taken.join(", ")}; nothing was written`, "choose another folder, or move these files");
  await mkdir(folder, { recursive: true });
  const written = names.filter((_, at) => !there[at]);
  // `wx`: a file that was created since the check is not overwritten either.
  for (const name of written) await writeFile(join(folder, name), files[name]!, { flag: "wx" });
  return written;
}
