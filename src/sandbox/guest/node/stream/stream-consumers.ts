/** Inside the isolate: `stream/consumers`. They read Node's streams, web streams and any other async iterable. */
import { Buffer } from "../buffer/buffer-class.ts";
import { StringDecoder } from "../buffer/string-decoder.ts";

type Chunk = string | Uint8Array | ArrayBuffer;

async function buffer(stream: AsyncIterable<Chunk>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

async function bytes(stream: AsyncIterable<Chunk>): Promise<Uint8Array> {
  return bytesOf(await buffer(stream));
}

async function arrayBuffer(stream: AsyncIterable<Chunk>): Promise<ArrayBuffer> {
  const { buffer: all, byteOffset, byteLength } = await buffer(stream);
  return all.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
}

async function blob(stream: AsyncIterable<Chunk>): Promise<Blob> {
  const chunks: Chunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return new Blob(chunks);
}

async function text(stream: AsyncIterable<Chunk>): Promise<string> {
  const decoder = new (StringDecoder as unknown as new (encoding: string) => { write(chunk: Uint8Array): string; end(): string })("utf8");
  let all = "";
  for await (const chunk of stream) all += typeof chunk === "string" ? chunk : decoder.write(new Uint8Array(bytesOf(chunk)));
  return all + decoder.end();
}

function bytesOf(chunk: Uint8Array | ArrayBuffer): Uint8Array {
  return ArrayBuffer.isView(chunk) ? new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength) : new Uint8Array(chunk);
}

async function json(stream: AsyncIterable<Chunk>): Promise<unknown> {
  return JSON.parse(await text(stream)) as unknown;
}

export default { arrayBuffer, blob, buffer, bytes, text, json };
