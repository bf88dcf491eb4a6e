/** Colours and width, on a stream that says it is a terminal. */
import { PassThrough } from "node:stream";
import { WriteStream } from "node:tty";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { difference } from "../../src/cli/demo/timeline.ts";
import { duration, wrap } from "../../src/cli/ui/text.ts";
import { logLine } from "../../src/cli/ui/log-line.ts";
import { terminal } from "../../src/cli/ui/terminal.ts";

const getColorDepth = (): number => WriteStream.prototype.getColorDepth();

function tty(isTTY: boolean, columns?: number): NodeJS.WriteStream {
  return Object.assign(new PassThrough(), { isTTY, columns, getColorDepth }) as unknown as NodeJS.WriteStream;
}

describe("a terminal", () => {
  beforeEach(() => {
    for (const name of ["NO_COLOR", "FORCE_COLOR", "NODE_DISABLE_COLORS", "CI", "COLORTERM"]) vi.stubEnv(name, undefined);
    vi.stubEnv("TERM", "xterm-256color");
  });
  afterEach(() => vi.unstubAllEnvs());

  it("has colours", () => expect(terminal(tty(true)).paint("red", "x")).not.toBe("x"));

  it("has none with NO_COLOR, in a dumb terminal, or when it is no terminal", () => {
    expect(terminal(tty(false)).paint("red", "x")).toBe("x");
    vi.stubEnv("TERM", "dumb");
    expect(terminal(tty(true)).paint("red", "x")).toBe("x");
    vi.stubEnv("TERM", "xterm-256color");
    vi.stubEnv("NO_COLOR", "1");
    expect(terminal(tty(true)).paint("red", "x")).toBe("x");
  });

  it("takes back what it has rewritten, and only where that can be done", () => {
    const stream = tty(true, 80);
    const { line, rewrite } = terminal(stream);
    rewrite!("half");
    rewrite!("x".repeat(200));
    line("done");
    line("more");
    const written = (stream as unknown as PassThrough).read() as Buffer;
    expect(written.toString()).toBe(`half\r\u001b[K${"x".repeat(79)}\r\u001b[Kdone\nmore\n`);
    expect(terminal(tty(false)).rewrite).toBe(undefined);
  });

  it("is as wide as it says, within reason, and as a page when it does not say", () => {
    expect([tty(true, 80), tty(true, 20), tty(true, 400), tty(true, 0), tty(false)].map((stream) => terminal(stream).width)).toEqual([
      80, 60, 100, 100, 100,
    ]);
  });
});

it("writes durations with the digits that matter", () => {
  expect([0, 0.004, 0.1234, 9.87, 12.34, 151.6, 1234].map(duration)).toEqual([
    "0 ms",
    "<0.01 ms",
    "0.12 ms",
    "9.87 ms",
    "12.3 ms",
    "152 ms",
    "1.23 s",
  ]);
});

it("wraps at words, keeps line breaks, and cuts what is longer than a line", () => {
  expect(wrap("one two three", 8)).toEqual(["one two", "three"]);
  expect(wrap("a\n\nb", 8)).toEqual(["a", "", "b"]);
  expect(wrap("x abcdefghij", 4)).toEqual(["x", "abcd", "efgh", "ij"]);
});

it("finds the piece in the middle that differs, at words", () => {
  expect(difference("the old thing", "the new thing")).toEqual({ head: "the ", removed: "old ", added: "new ", tail: "thing" });
  expect(difference("same", "same")).toEqual({ head: "same", removed: "", added: "", tail: "" });
  expect(difference("a a", "a a a")).toEqual({ head: "a ", removed: "", added: "a ", tail: "a" });
  expect(difference("", "x")).toMatchObject({ removed: "", added: "x" });
});

it("shows a log line as a sentence with its fields, and no field paints the terminal", () => {
  const line = JSON.stringify({
    level: 40,
    time: 0,
    pid: 1,
    hostname: "h",
    name: "creel",
    plugin: "a\u001b[31m",
    err: { message: "oops", stack: "x" },
    msg: "a plugin did not load",
  });
  expect(logLine(line, { paint: (_, text) => text })).toMatch(/^\d\d:\d\d:\d\d warn {2}a plugin did not load plugin=a \[31m err="oops"$/);
});
