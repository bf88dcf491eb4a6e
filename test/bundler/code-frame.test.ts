/** The bundler's message quotes a plugin's code: it is shown line by line, and none of it obeys the plugin. */
import { expect, it } from "vitest";
import { codeFrame } from "../../src/bundler/code-frame.ts";

it("has the sentence with its place for a log, and the frame for a terminal", () => {
  const message = "[PARSE_ERROR] Missing initializer\n   ╭─[ index.ts:9:13 ]\n   │\n 9 │ const a == 1;\n   │       ┬\n───╯";
  expect(codeFrame(message)).toEqual({
    detail: "[PARSE_ERROR] Missing initializer (index.ts:9:13)",
    at: "index.ts:9:13",
    frame: "   ╭─[ index.ts:9:13 ]\n   │\n 9 │ const a == 1;\n   │       ┬\n───╯",
  });
});

it("a quoted line cannot paint the terminal, and a long one is cut", () => {
  const { frame } = codeFrame(`oops\n ╭─[ a.ts:1:1 ]\n 1 │ \u001b[31mred\u202e\r${"x".repeat(9_999)}\n${" 2 │ y\n".repeat(99)}`);
  expect(frame).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/); // oxlint-disable-line no-control-regex -- that is the point
  expect([frame!.split("\n").length, Math.max(...frame!.split("\n").map((line) => line.length))]).toEqual([16, 199]);
});

it("a message without a frame is one line", () => {
  expect(codeFrame("no entry\n  was found")).toEqual({ detail: "no entry was found", at: undefined, frame: undefined });
});
