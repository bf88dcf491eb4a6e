/** Runs and replies in their cheap form: a reply comes from the sandbox, so every number in it is checked. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import {
  isCallFrame,
  readReply,
  readCallRequest,
  callFrame,
  STEP_STATUSES,
  writeReply,
  writeCallRequest,
} from "../../src/transport/call-frames.ts";
import { thrownBy } from "../support/errors.ts";
import { pack } from "../../src/transport/frames.ts";

const text = fc.string({ unit: "binary" });

it("a run comes out as it went in", () => {
  fc.assert(
    fc.property(
      fc.record({
        id: fc.nat(),
        cause: fc.nat(),
        route: fc.nat(),
        from: fc.nat(),
        chains: fc.boolean(),
        spentMs: fc.nat(),
        event: text,
        context: text,
      }),
      (run) => {
        const frame = writeCallRequest(run.id, run.route, run);
        expect(isCallFrame(frame)).toBe(true);
        expect(readCallRequest(frame)).toEqual(run);
      },
    ),
  );
});

it("a run with a long event goes in parts, none of them made of others; it comes out as it went in, also when they were joined on the way", () => {
  for (const character of ["x", "€"]) {
    const event = JSON.stringify({ content: character.repeat(100_000) });
    const run = { cause: 2, from: 3, chains: true, spentMs: 4, event, context: '{"a":1}' };
    const frame = callFrame(1, 5, run);
    expect(frame).toEqual([expect.any(String), event, run.context]);
    expect(readCallRequest(frame)).toEqual({ ...run, id: 1, route: 5 });
    const joined = writeCallRequest(1, 5, run);
    expect((frame as readonly string[]).join("")).toBe(joined);
    expect(readCallRequest(joined)).toEqual({ ...run, id: 1, route: 5 });
  }
});

it("a run with a short event is one string", () => {
  const run = { cause: 2, from: 3, chains: true, spentMs: 4, event: "{}", context: "{}" };
  expect(callFrame(1, 5, run)).toBe(writeCallRequest(1, 5, run));
});

it("a reply comes out as it went in", () => {
  const step = fc.record({ step: fc.nat(), status: fc.constantFrom(...STEP_STATUSES), wallUs: fc.nat(), cpuUs: fc.nat(), body: text });
  fc.assert(
    fc.property(fc.nat(), fc.boolean(), fc.array(step), (id, isLast, steps) => {
      const frame = writeReply(id, isLast, steps);
      expect(isCallFrame(frame)).toBe(true);
      expect(readReply(frame)).toEqual({ id, isLast, steps });
    }),
  );
});

it("frames of the other form are told apart", () => {
  expect(isCallFrame(pack({ kind: "ready" }))).toBe(false);
});

it.each([
  "",
  "A",
  "A\n",
  "A1\n",
  "A1,1",
  "R1,1\n",
  "A1,64\n",
  "A-1,1\n",
  "A1.5,1\n",
  "Ax,1\n",
  "A1,1,1\n",
  "A1,1;\n",
  "A1,1;0,0,0,0\n",
  "A1,1;0,9,0,0,0\n",
  "A1,1;0,-1,0,0,0\n",
  "A1,1;0,0,-5,0,0\n",
  "A1,1;0,0,0,0,5\nabc",
  "A1,1;0,0,0,0,1\nabc",
  "A1,1;0,0,0,0,9007199254740993\n",
  "A1,1;1e400,0,0,0,0\n",
  "A1,1;NaN,0,0,0,0\n",
])("%j is no reply", (frame) => {
  expect(() => readReply(frame)).toThrow(RangeError);
});

it("random text is refused with a RangeError, or every character of it is accounted for", () => {
  const entries = fc.array(fc.array(fc.integer({ min: -1, max: 12 }), { minLength: 1, maxLength: 6 }));
  const almost = fc.tuple(entries, fc.string()).map(([found, rest]) => `A${found.map((entry) => entry.join()).join(";")}\n${rest}`);
  fc.assert(
    fc.property(fc.oneof(fc.string(), almost), (frame) => {
      let bodies = frame.slice(frame.indexOf("\n") + 1);
      const error = thrownBy(() => {
        bodies = readReply(frame)
          .steps.map(({ body }) => body)
          .join("");
      });
      expect(error === undefined || error instanceof RangeError).toBe(true);
      expect(bodies).toBe(frame.slice(frame.indexOf("\n") + 1));
    }),
    { numRuns: 3_000 },
  );
});
