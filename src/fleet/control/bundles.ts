/**
 * Shared: the files of a plugin on their way to the hosts, packed into one text of bytes and cut into parts that a server accepts. Its key is
 * the name of the plugin's folder in the store, which is the digest of all its files: who unpacks it checks that.
 */
import { gunzipSync, gzipSync } from "node:zlib";
import * as z from "zod";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Bucket } from "../bus.ts";
import { arrived } from "./arrived.ts";
import { read } from "../messages.ts";

const header = z.array(z.tuple([z.string(), z.int().nonnegative()])).max(LIMITS.state.storedFiles);
const parts = z.object({ parts: z.int().min(1).max(1_024) });

/**
 * Makes what is there these files: false if it already is. Whatever else is there is replaced, so that an operator can repair it. The list of
 * parts comes last, so that a bundle is whole if it has one.
 */
export async function putBundle(bucket: Bucket, store: string, files: ReadonlyMap<string, Uint8Array>): Promise<boolean> {
  if (isSame(files, await getBundle(bucket, "", store).catch(() => undefined))) return false;
  const put = async (key: string, bytes: Uint8Array): Promise<void> => {
    const before = (await bucket.get(key))?.revision ?? 0;
    if ((await bucket.put(key, bytes, before)) === undefined) throw new CreelError("ERR_FLEET_RACE");
  };
  const bytes = pack(files);
  const count = Math.ceil(bytes.length / LIMITS.fleet.chunkBytes);
  for (let at = 0; at < count; at++)
    await put(`${store}.${at}`, bytes.subarray(at * LIMITS.fleet.chunkBytes, (at + 1) * LIMITS.fleet.chunkBytes));
  await put(`${store}.list`, Buffer.from(JSON.stringify({ parts: count })));
  return true;
}

function isSame(files: ReadonlyMap<string, Uint8Array>, found: ReadonlyMap<string, Buffer> | undefined): boolean {
  return found?.size === files.size && [...files].every(([name, bytes]) => found.get(name)?.equals(bytes));
}

/**
 * Rejects if a part is missing or it cannot be unpacked. Whether the files are the right ones, the caller checks. `isListed`: a signed list
 * names it, so what is missing will arrive.
 */
export async function getBundle(bucket: Bucket, plugin: string, store: string, isListed = false): Promise<Map<string, Buffer>> {
  const wrong = (detail: string): CreelError => new CreelError("ERR_FLEET_BUNDLE", { plugin, detail });
  const get = (key: string): ReturnType<Bucket["get"]> => (isListed ? arrived(bucket, key) : bucket.get(key));
  const list = await get(`${store}.list`);
  const found = list && read(parts, Buffer.from(list.bytes).toString());
  if (!found) throw wrong("they are not there");
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < found.parts; at++) {
    const piece = await get(`${store}.${at}`);
    if (!piece) throw wrong("a part is missing");
    pieces.push(piece.bytes);
  }
  try {
    return unpack(Buffer.concat(pieces));
  } catch (error) {
    throw error instanceof CreelError ? error : wrong((error as Error).message);
  }
}

function pack(files: ReadonlyMap<string, Uint8Array>): Buffer {
  const head = Buffer.from(JSON.stringify(Array.from(files, ([name, { length }]) => [name, length])));
  const size = Buffer.alloc(4);
  size.writeUInt32BE(head.length);
  return gzipSync(Buffer.concat([size, head, ...files.values()]));
}

function unpack(packed: Buffer): Map<string, Buffer> {
  const bytes = gunzipSync(packed, { maxOutputLength: LIMITS.state.storedBytes + LIMITS.fleet.messageBytes });
  const start = 4 + bytes.readUInt32BE();
  let at = start;
  return new Map(
    header.parse(JSON.parse(bytes.toString("utf8", 4, start))).map(([name, length]) => {
      if (at + length > bytes.length) throw new Error("it ends too early");
      return [name, bytes.subarray(at, (at += length))];
    }),
  );
}
