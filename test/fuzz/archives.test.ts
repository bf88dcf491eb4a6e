/** Archives made of any entries in any order, and damaged ones: refused with an error of ours and nothing left, or unpacked as they say, and never outside. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { arena } from "../support/arena.ts";
import { gzip, longName, pax, tar } from "../support/tar.ts";
import type { RawEntry } from "../support/tar.ts";
import { attemptAndClear } from "../support/unpacking.ts";
import { fuzz, fuzzing } from "./fuzz.ts";
import { edgeNumber } from "./mutations.ts";

const name = fc.oneof(
  fc.constantFrom(
    "package/package.json",
    "package/a.js",
    "package/A.js",
    "package/lib/",
    "package/lib",
    "package/lib/x.js",
    "package/a.js/b",
  ),
  fc.constantFrom(
    "../x",
    "/etc/x",
    "package/../../x",
    "package/./a.js",
    "package//a.js",
    "C:\\x",
    "package/con",
    "package/a\0b",
    "package/\u202ea.js",
    ".",
  ),
  fc.string({ unit: "binary", maxLength: 30 }).map((text) => `package/${text}`),
  fc.integer({ min: 90, max: 300 }).map((length) => `package/${"n".repeat(length)}`),
);
const plain: fc.Arbitrary<RawEntry> = fc.record(
  {
    name,
    type: fc.constantFrom(..."0012345670xgLKSVMD7A\0".split("")),
    content: fc.oneof(
      fc.string({ maxLength: 20 }),
      fc.integer({ min: 0, max: 3_000 }).map((length) => "y".repeat(length)),
    ),
    size: fc.oneof(
      fc.nat(2_000),
      edgeNumber.filter((n) => Number.isSafeInteger(n) && n >= 0),
      fc.uint8Array({ minLength: 12, maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
    ),
    prefix: fc.constantFrom("", "package", "../up", "p".repeat(150)),
    target: fc.constantFrom("", "a.js", "../../etc/passwd", "/etc/passwd"),
    mode: fc.constantFrom(0o644, 0o777, 0o4755, 0),
    magic: fc.constantFrom("posix" as const, "gnu" as const, "none" as const),
  },
  { requiredKeys: ["name"] },
);
const about = fc.oneof(
  fc
    .dictionary(
      fc.constantFrom("path", "size", "linkpath", "mtime", "GNU.sparse.size", "hdrcharset"),
      fc.oneof(name, fc.nat().map(String)),
      { maxKeys: 3 },
    )
    .map((records) => pax(records)),
  fc.constantFrom("x" as const, "g" as const).chain((type) => fc.string({ unit: "binary", maxLength: 40 }).map((text) => pax(text, type))),
  name.map((text) => longName(text)),
);
const archive = fc
  .record({
    entries: fc.array(fc.oneof({ weight: 3, arbitrary: plain }, { weight: 1, arbitrary: about }), { maxLength: 8 }),
    flips: fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }),
    isZipped: fc.boolean(),
    cut: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { freq: 5 }),
  })
  .map(({ entries, flips, isZipped, cut }) => {
    const whole = tar(...entries);
    const bytes = isZipped ? gzip(whole) : whole;
    for (const [place, byte] of flips) bytes[place % bytes.length] = byte;
    return cut === null ? bytes : bytes.subarray(0, Math.floor(cut * bytes.length));
  });

const where = arena();

it("an archive is refused whole, or unpacked as it says, and nothing else is touched", fuzzing("archives"), async () => {
  const cases = await fuzz("archives", archive, async (bytes) => {
    const { code, complaints } = await attemptAndClear(bytes, where, { limits: { ms: 5_000 } });
    expect(complaints).toEqual([]);
    expect(code).not.toBe("ERR_ARCHIVE_TIME");
  });
  expect(cases).toBeGreaterThan(0);
});
