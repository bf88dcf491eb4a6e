/** Node's modules inside a cell give an attacker nothing that the cell's budgets do not end. */
import { brotliCompressSync, gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { contract, open, plugin } from "../support/host.ts";

/** 150 MB of zeros, several times the heap of a cell, in 150 KB. */
const BOMB = gzipSync(Buffer.alloc(150_000_000)).toString("base64");
const BROTLI_BOMB = brotliCompressSync(Buffer.alloc(150_000_000)).toString("base64");
const [event, context] = [{ to: "x", content: "" }, { channelId: "chat" }];

const BOMBS: Readonly<Record<string, string>> = {
  sync: `require("zlib").gunzipSync(bomb)`,
  callback: `new Promise((resolve, reject) => require("zlib").gunzip(bomb, (error, data) => (error ? reject(error) : resolve(data))))`,
  stream: `require("stream/consumers").buffer(require("stream").Readable.from([bomb]).pipe(require("zlib").createGunzip()))`,
  web: `new Response(new Blob([bomb]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer()`,
  brotli: `require("zlib").brotliDecompressSync(Buffer.from(${JSON.stringify(BROTLI_BOMB)}, "base64"))`,
  "brotli-stream": `require("stream/consumers").buffer(require("stream").Readable.from([Buffer.from(${JSON.stringify(BROTLI_BOMB)}, "base64")]).pipe(require("zlib").createBrotliDecompress()))`,
};

contract("decompression bombs", (isolation) => {
  it("end at the heap or CPU budget, and only for the plugin that made them", async () => {
    const bombs = Object.entries(BOMBS).map(([id, code]) =>
      plugin(
        id,
        `api.on("message_sending", async () => {
          const bomb = Buffer.from(${JSON.stringify(BOMB)}, "base64");
          await (${code});
          return { content: "opened" };
        });`,
      ),
    );
    const neighbour = plugin("neighbour", `api.on("message_sending", () => ({ content: "fine" }));`);
    await using host = await open(isolation, { plugins: [...bombs, neighbour] });
    const { calls, result } = await host.run("message_sending", event, context);
    // V8 refuses the buffer that would not fit, or the lane ends the call.
    const ends = calls.map(({ error }) => error && /allocation failed|CPU|heap|memory/i.test(error.message));
    expect(ends).toEqual([...bombs.map(() => true), undefined]);
    expect(result!.content).toBe("fine");
  });
});

it("a reader that reads slowly holds one piece of output, not all", async () => {
  const body = `api.on("message_sending", async () => {
      const gunzip = require("zlib").createGunzip();
      gunzip.end(Buffer.from(${JSON.stringify(BOMB)}, "base64"));
      let bytes = 0;
      for await (const chunk of gunzip) if ((bytes += chunk.length) > 1_000_000) break;
      return { content: String(bytes < 1_200_000 && gunzip.destroyed && gunzip.readableLength < 200_000) };
    });`;
  await using host = await open("thread", { plugins: [{ ...plugin("slow", body), hooks: { cpuMs: 2_000 } }] });
  expect((await host.run("message_sending", event, context)).result?.content).toBe("true");
});
