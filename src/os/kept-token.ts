/**
 * Trusted side: a token in a file of its owner's, for programs that read it there or were given it once. It stays the same over restarts,
 * and for several processes with the same file.
 */
import { randomBytes } from "node:crypto";
import { lstat, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

const TOKEN = /^[\w-]{43}$/;
const TOKEN_BYTES = 32;
const OTHERS = 0o077;

/** SECURITY: what others could read or have put there is no token of ours. test/os/kept-token.test.ts */
export async function keptToken(file: string): Promise<string> {
  const found = await kept(file);
  if (found !== undefined) return found;
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  // Of this call alone, and never written into a file or link that is there.
  const fresh = `${file}.${randomBytes(6).toString("hex")}`;
  await writeFile(fresh, `${token}\n`, { mode: 0o600, flag: "wx" });
  await rename(fresh, file);
  // Another process may have been the last.
  return (await kept(file)) ?? token;
}

async function kept(file: string): Promise<string | undefined> {
  try {
    const found = await lstat(file);
    // Windows has neither owners nor such modes.
    const isOwn = process.getuid === undefined || (found.uid === process.getuid() && (found.mode & OTHERS) === 0);
    if (!found.isFile() || !isOwn) return undefined;
    const text = (await readFile(file, "utf8")).trim();
    return TOKEN.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}
