/**
 * Author's side: writes an npm-style archive. The same files give the same bytes on every machine: sorted names, one
 * time, one mode, no owner, and a gzip header that does not name the operating system.
 */
import { gzipSync } from "node:zlib";
import { BLOCK } from "./tar-header.ts";

/** npm uses the same moment for every file: 1985-10-26, 8:15 UTC. */
export const PACKED_AT_MS = 499_162_500_000;
/** gzip: "unknown operating system". zlib writes that of the machine. */
const OS_AT = 9;
const UNKNOWN_OS = 255;

/** Names are relative and have at most 92 bytes: the field of the header has room for `package/` and that. */
export function packedArchive(files: ReadonlyMap<string, Uint8Array>): Buffer {
  const parts: Buffer[] = [];
  for (const [name, content] of [...files].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    parts.push(header(`package/${name}`, content.length), Buffer.from(content), Buffer.alloc(-content.length & (BLOCK - 1)));
  const archive = gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]), { level: 9 });
  archive[OS_AT] = UNKNOWN_OS;
  return archive;
}

function header(name: string, bytes: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number, at: number): void =>
    void block.write(`${value.toString(8).padStart(digits, "0")}\0`, at, "latin1");
  block.write(name, 0, 100, "utf8");
  octal(0o644, 7, 100);
  octal(0, 7, 108);
  octal(0, 7, 116);
  octal(bytes, 11, 124);
  octal(PACKED_AT_MS / 1000, 11, 136);
  block.write("0", 156, "latin1");
  block.write("ustar\x0000", 257, "latin1");
  block.fill(" ", 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}
