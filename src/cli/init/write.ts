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
    throw new UsageError(`${folder} already has ${taken.join(", ")}; nothing was written`, "choose another folder, or move these files");
  await mkdir(folder, { recursive: true });
  // `wx`: a file that was created since the check is not overwritten either.
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { flag: "wx" });
}
