/** Archives that were damaged at random are refused, or give exactly the files they say; they never write elsewhere, and never take long. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { arena } from "../../support/arena.ts";
import { BLOCK, gzip, longName, pax, record, sum, tar } from "../../support/tar.ts";
import { attemptAndClear } from "../../support/unpacking.ts";

const sample = tar(
  { name: "package/package.json", content: '{"name":"a"}' },
  pax({ path: "package/lib/größe.js" }),
  { name: "x", content: "y".repeat(700) },
  longName(`package/lib/${"long".repeat(30)}.js`),
  { name: "x", content: "gnu", magic: "gnu" },
  { name: "package/lib/", type: "5" },
);
const starts = Array.from({ length: sample.length / BLOCK }, (_, i) => i * BLOCK);
const isHeader = (start: number): boolean => sample.toString("latin1", start + 257, start + 262) === "ustar";
const where = arena();
const seed = { seed: 6 };

/** Empty, if all is well. */
async function complaintsOf(archive: Buffer): Promise<readonly string[]> {
  const { code, complaints } = await attemptAndClear(archive, where, { limits: { ms: 5_000 } });
  return code === "ERR_ARCHIVE_TIME" ? ["it took too long"] : complaints;
}

it("the sample itself is good", async () => {
  expect((await attemptAndClear(sample, where)).unpacked?.files).toHaveLength(3);
});

it("bytes that were changed, with or without a checksum that fits", async () => {
  const flips = fc.array(fc.tuple(fc.nat(sample.length - 1), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(flips, fc.boolean(), async (changes, isMended) => {
      const damaged = Buffer.from(sample);
      for (const [at, byte] of changes) damaged[at] = byte;
      if (isMended) for (const start of starts.filter(isHeader)) sum(damaged.subarray(start, start + BLOCK));
      expect(await complaintsOf(damaged)).toEqual([]);
    }),
    { ...seed, numRuns: 250 },
  );
});

it("headers whose fields were changed, with a checksum that fits", async () => {
  const fields: [at: number, length: number][] = [
    [0, 100],
    [124, 12],
    [156, 1],
    [257, 8],
    [345, 155],
  ];
  const texts = [
    "../x",
    "/etc/x",
    "package/lib",
    "package",
    "package/a\0b",
    "00000000777",
    "00000000003",
    "ustar  \0",
    ...Array.from("0123456789xgLKS"),
  ];
  const value = fc.oneof(fc.constantFrom(...texts), fc.string({ unit: "binary", maxLength: 12 }));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...starts.filter(isHeader)), fc.constantFrom(...fields), value, async (start, [at, length], text) => {
      const damaged = Buffer.from(sample);
      const header = damaged.subarray(start, start + BLOCK);
      header.fill(0, at, at + length);
      header.write(text, at, length);
      sum(header);
      expect(await complaintsOf(damaged)).toEqual([]);
    }),
    { ...seed, numRuns: 250 },
  );
});

it("blocks that were left out, repeated or put elsewhere", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...starts), { maxLength: 24 }), async (order) => {
      expect(await complaintsOf(Buffer.concat(order.map((start) => sample.subarray(start, start + BLOCK))))).toEqual([]);
    }),
    { ...seed, numRuns: 150 },
  );
});

it("records of POSIX headers, whatever they say", async () => {
  const key = fc.oneof(fc.constantFrom("path", "size", "linkpath", "mtime", "comment"), fc.string({ maxLength: 5 }));
  const value = fc.oneof(fc.constantFrom("package/b.js", "package/../b.js", "1", "2"), fc.string({ unit: "binary", maxLength: 20 }));
  const text = fc.oneof(
    fc.tuple(key, value).map(([name, said]) => record(name, said)),
    fc.string({ maxLength: 20 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(text, { maxLength: 3 }), async (records) => {
      expect(await complaintsOf(tar(pax(records.join("")), { name: "package/a.js", content: "a" }))).toEqual([]);
    }),
    { ...seed, numRuns: 150 },
  );
});

it("what is compressed was changed, or cut off", async () => {
  const packed = gzip(sample);
  const at = fc.nat(packed.length - 1);
  await fc.assert(
    fc.asyncProperty(at, fc.integer({ min: 0, max: 255 }), fc.option(at), async (place, byte, length) => {
      const damaged = Buffer.from(packed);
      damaged[place] = byte;
      expect(await complaintsOf(damaged.subarray(0, length ?? undefined))).toEqual([]);
    }),
    { ...seed, numRuns: 150 },
  );
});
