/** Frames: what pack makes, unpack reads; anything else is refused with an error, never misread. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { thrownBy } from "../support/errors.ts";
import { pack, unpack } from "../../src/transport/frames.ts";

it("a frame is one line of header, then its bodies, unescaped", () => {
  expect(pack({ kind: "x" }, `{"a":1}`, "")).toBe(`{"kind":"x","sizes":[7,0]}\n{"a":1}`);
});

it("unpack gives back header and bodies, whatever text they are", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.string({ unit: "binary" })), (header, bodies) => {
      const { header: read, bodies: texts } = unpack(pack(header, ...bodies));
      expect(texts).toEqual(bodies);
      expect(read).toEqual({ ...(JSON.parse(JSON.stringify(header)) as object), sizes: bodies.map((body) => body.length) });
    }),
  );
});

it.each([
  ["no header", "abc"],
  ["an empty text", ""],
  ["a header that is not JSON", "{\n"],
  ["a header that is null", "null\n"],
  ["no sizes", "{}\n"],
  ["sizes that are no list", `{"sizes":5}\n`],
  ["a negative size", `{"sizes":[-1]}\n`],
  ["a size that is no number", `{"sizes":["1"]}\nx`],
  ["a fraction as size", `{"sizes":[0.5]}\n`],
  ["a size past the end", `{"sizes":[2]}\nx`],
  ["text that no size counts", `{"sizes":[1]}\nxy`],
  ["sizes that overflow", `{"sizes":[9007199254740991,9007199254740991]}\nx`],
])("a frame with %s is refused", (_, text) => {
  expect(thrownBy(() => unpack(text))).toBeInstanceOf(Error);
});

it("random text is refused or read, and never anything else than an error of two known kinds", () => {
  const almost = fc.tuple(fc.json(), fc.string()).map(([json, rest]) => `{"sizes":${json}}\n${rest}`);
  const any = fc.oneof(
    fc.string(),
    fc.json().map((json) => `${json}\n`),
    almost,
  );
  fc.assert(
    fc.property(any, (text) => {
      const error = thrownBy(() => unpack(text));
      expect(error === undefined || error instanceof SyntaxError || error instanceof RangeError).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});
