/** Writes the archive of `creel pack`, whole or not at all. */
import { createHash } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { packPlugin } from "../../install/pack/pack.ts";
import type { PackedPlugin } from "../../install/pack/pack.ts";
import { version } from "../self.ts";

export interface WrittenPack extends Omit<PackedPlugin, "archive" | "fileName"> {
  readonly file: string;
  readonly bytes: number;
  /** As registries and `creel install` name it. */
  readonly integrity: string;
}

export async function packInto(path: string, file: string | undefined): Promise<WrittenPack> {
  const { archive, fileName, ...packed } = await packPlugin(path, version());
  const target = file ?? fileName;
  const partial = `${target}.${process.pid}.partial`;
  try {
    await writeFile(partial, archive);
    await rename(partial, target);
  } finally {
    await rm(partial, { force: true });
  }
  const integrity = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
  return { ...packed, file: target, bytes: archive.length, integrity };
}
