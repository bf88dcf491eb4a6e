/**
 * Author's side: signs what `npm publish` would publish of a folder, and verifies that the package includes the
 * signature.
 */
import type { KeyObject } from "node:crypto";
import { createPublicKey } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { CreelError } from "../../protocol/errors.ts";
import { unpack } from "../archive/archive.ts";
import type { UnpackedFile } from "../archive/archive.ts";
import { pack } from "../fetch/npm.ts";
import type { NpmOptions } from "../fetch/npm.ts";
import { checkedSignature, keyName, SIGNATURE, signedWith } from "./signature.ts";

export interface SignedPackage {
  readonly file: string;
  /** As operators name it. */
  readonly key: string;
  readonly files: readonly string[];
}

export async function signPackage(folder: string, key: KeyObject, options: NpmOptions = {}): Promise<SignedPackage> {
  const file = join(resolve(folder), SIGNATURE);
  const before = await packedFiles(folder, options);
  await writeFile(file, signedWith(key, before));
  const after = await packedFiles(folder, options);
  const isThere = after.some(({ path }) => path === SIGNATURE);
  if (!isThere || checkedSignature(await readFile(file, "utf8"), after).state !== "good") {
    await rm(file, { force: true });
    const detail = isThere ? "its files change each time it is packed" : `its package.json leaves ${SIGNATURE} out: add it to "files"`;
    throw new CreelError("ERR_INSTALL_SIGN", { folder, detail });
  }
  return { file, key: keyName(createPublicKey(key)), files: before.map(({ path }) => path).filter((path) => path !== SIGNATURE) };
}

async function packedFiles(folder: string, options: NpmOptions): Promise<readonly UnpackedFile[]> {
  const work = await mkdtemp(join(tmpdir(), "creel-sign-"));
  try {
    // Otherwise npm looks for a project, and its settings, in the folders above.
    await writeFile(join(work, "package.json"), "{}");
    const [packed] = await pack([resolve(folder)], join(work, "archive"), options);
    const into = join(work, "files");
    await mkdir(into, { mode: 0o700 });
    return (await unpack(packed!.path, into)).files;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
