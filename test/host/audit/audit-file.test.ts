/**
 * The files of the audit log: whole lines from several processes, bounded size, torn or foreign lines skipped and
 * counted.
 */
import { execFile } from "node:child_process";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { localStores } from "../../../src/host/stores.ts";
import { KnownSecrets } from "../../../src/host/audit/known-secrets.ts";
import { Audit, auditSinks } from "../../../src/host/audit/audit.ts";
import { AuditFile } from "../../../src/host/audit/audit-file.ts";
import { LineQueue } from "../../../src/host/audit/line-queue.ts";
import { common } from "../../../src/host/audit/usage.ts";
import { HostEvents } from "../../../src/host/report/events.ts";
import { CallCounts } from "../../../src/host/plugins/call-counts.ts";
import type { AuditState } from "../../../src/protocol/audit-line.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { AuditLog } from "../../../src/state/audit-log.ts";
import { folder, QUICK } from "../../support/files.ts";
import { recorder } from "../../support/host.ts";

const run = promisify(execFile);
const child = (...args: string[]) =>
  run(process.execPath, ["-C", "source", join(import.meta.dirname, "fixtures/audit-writer.ts"), ...args]);
const replaced = (why: string) => ({ kind: "replaced", plugin: "p", why }) as const;

async function states(dir: string): Promise<AuditState[]> {
  const found: AuditState[] = [];
  for await (const state of new AuditLog(dir).states()) found.push(state);
  return found;
}

const whyOf = (state: AuditState): string => ("why" in state ? state.why : "");

describe("the files", () => {
  it("three processes at once lose and tear no line, although files are rotated meanwhile", async () => {
    const dir = folder({}, QUICK);
    // All of it fits, but not into one file.
    await Promise.all(["a", "b", "c"].map((name) => child(dir, name, "100", "160000")));
    const found = await states(dir);
    expect(readdirSync(join(dir, "audit")).length).toBeGreaterThan(1);
    for (const name of ["a", "b", "c"]) {
      const own = found.filter(({ host }) => host === name).map((state) => Number(whyOf(state).split(" ")[0]));
      expect(own.toSorted((one, two) => one - two)).toEqual(Array.from({ length: 100 }, (_, at) => at));
    }
  });

  it("all files together stay below the limit, the oldest lines go first, and only the owner may read them", async () => {
    const dir = folder({}, QUICK);
    const file = new AuditFile(dir, "state", 40_000, 4);
    const journal = new LineQueue("h", file, recorder().logger);
    for (let at = 0; at < 400; at++) {
      journal.add(file, 0, () => replaced(`${at} ${"x".repeat(300)}`));
      if (at % 10 === 9) await journal.flush();
    }
    await journal.close();
    const audit = join(dir, "audit");
    const files = readdirSync(audit);
    const sizes = files.map((name) => statSync(join(audit, name)).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(40_000 + 5_000);
    expect(files.length).toBeGreaterThan(2);
    expect([statSync(audit).mode & 0o777, ...files.map((name) => statSync(join(audit, name)).mode & 0o777)]).toEqual([
      0o700,
      ...files.map(() => 0o600),
    ]);
    const kept = (await states(dir)).map((state) => Number(whyOf(state).split(" ")[0]));
    // The latest lines, without a gap, the latest first.
    expect(kept).toEqual(Array.from(kept, (_, at) => 399 - at));
    expect(kept.length).toBeGreaterThan(50);
  });

  it("files that are full in the same millisecond keep their order", async () => {
    const dir = folder({}, QUICK);
    const file = new AuditFile(dir, "state", 1_000_000, 1_000);
    const standing = vi.spyOn(Date, "now").mockReturnValue(Date.now());
    onTestFinished(() => standing.mockRestore());
    const journal = new LineQueue("h", file, recorder().logger);
    for (let at = 0; at < 20; at++) {
      journal.add(file, 0, () => replaced(`${at} ${"x".repeat(1_000)}`));
      await journal.flush();
    }
    await journal.close();
    expect((await states(dir)).map((state) => Number(whyOf(state).split(" ")[0]))).toEqual(Array.from({ length: 20 }, (_, at) => 19 - at));
  });

  it("a torn line costs itself and not the next one; foreign lines and files are left out, and counted", async () => {
    const dir = folder({}, QUICK);
    const file = new AuditFile(dir, "state", 1_000_000, 4);
    const journal = new LineQueue("h", file, recorder().logger);
    journal.add(file, 0, () => replaced("one"));
    await journal.flush();
    const path = join(dir, "audit/state.jsonl");
    appendFileSync(path, readFileSync(path, "utf8").trim().slice(0, 60));
    journal.add(file, 0, () => replaced("two"));
    await journal.close();
    appendFileSync(path, `null\n[]\n{"v":2,"kind":"replaced"}\n`);
    writeFileSync(join(dir, "audit/state-other.jsonl"), "not ours\n");
    const log = new AuditLog(dir);
    const found: string[] = [];
    for await (const state of log.states()) found.push(whyOf(state));
    expect([found, log.unreadable]).toEqual([["two", "one"], 4]);
  });

  it("no log is an empty one", async () => {
    expect(await states(join(folder({}, QUICK), "nothing"))).toEqual([]);
  });
});

describe("what waits to be written", () => {
  it("is bounded by number and by size, and lines that find no room are counted in a line", async () => {
    const dir = folder({}, QUICK);
    const file = new AuditFile(dir, "state", 10_000_000, 4);
    const journal = new LineQueue("h", file, recorder().logger);
    journal.add(file, LIMITS.audit.queueChars, () => replaced("large"));
    journal.add(file, 1, () => replaced("one too many"));
    for (let at = 0; at < LIMITS.audit.queue + 4; at++) journal.add(file, 0, () => replaced("small"));
    await journal.close();
    const found = await states(dir);
    expect(found).toHaveLength(LIMITS.audit.queue + 1);
    expect(found.filter(({ kind }) => kind === "dropped")).toMatchObject([{ count: 6 }]);
    expect(found.some((state) => whyOf(state) === "one too many")).toBe(false);
  });

  it("a failing disk is logged once, and what it refused is counted when it accepts lines again", async () => {
    const dir = folder({ audit: "in the way" }, QUICK);
    const { logger, lines } = recorder();
    const file = new AuditFile(dir, "state", 1_000_000, 4);
    const journal = new LineQueue("h", file, logger);
    for (const why of ["one", "two"]) {
      journal.add(file, 0, () => replaced(why));
      await journal.flush();
    }
    expect(lines.map(({ message }) => message)).toEqual(["audit log cannot be written"]);
    const other = new AuditFile(join(dir, "elsewhere"), "state", 1_000_000, 4);
    mkdirSync(join(dir, "elsewhere"));
    const mended = new LineQueue("h", other, logger);
    mended.add(file, 0, () => replaced("three"));
    mended.add(other, 0, () => replaced("four"));
    await mended.flush();
    mended.add(other, 0, () => replaced("five"));
    await mended.close();
    await journal.close();
    const found = await states(join(dir, "elsewhere"));
    expect(found.map((state) => ("count" in state ? state.count : whyOf(state)))).toEqual([1, "five", "four"]);
  });

  it("a line that cannot be made is one lost line, and is logged", async () => {
    const dir = folder({}, QUICK);
    const { logger, lines } = recorder();
    const file = new AuditFile(dir, "state", 1_000_000, 4);
    const journal = new LineQueue("h", file, logger);
    journal.add(file, 0, () => {
      throw new Error("a mistake of ours");
    });
    journal.add(file, 0, () => replaced("next"));
    await journal.close();
    expect(lines.map(({ message }) => message)).toEqual(["audit line could not be made"]);
    expect((await states(dir)).map(({ kind }) => kind)).toEqual(["dropped", "replaced"]);
  });

  it("a process that ends without closing its host writes the queued lines", async () => {
    const dir = folder({}, QUICK);
    await child(dir, "gone", "exit", "100000");
    expect((await states(dir)).map((state) => [state.host, whyOf(state)[0]])).toEqual([
      ["gone", "2"],
      ["gone", "1"],
      ["gone", "0"],
    ]);
  });
});

it("what plugins used is written while the host runs, soon after its start, and again only if it has changed", async () => {
  const dir = folder({}, QUICK);
  const { logger } = recorder();
  const callCounts = new CallCounts();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const events = new HostEvents("h", () => {});
  const secrets = new KnownSecrets([], events, () => undefined);
  const audit = new Audit({ host: "h", sinks: auditSinks(localStores(dir), {})!, logger, events, settings: {}, secrets, callCounts });
  callCounts.of("p", "llm_input").calls += 3;
  vi.advanceTimersByTime(LIMITS.audit.firstUsageMs);
  vi.advanceTimersByTime(LIMITS.audit.flushMs);
  vi.useRealTimers();
  const log = new AuditLog(dir);
  await vi.waitUntil(async () => (await log.usage("p")).calls.get("llm_input") === 3, { timeout: 10_000 });
  await audit.close();
  events.close();
  expect(readFileSync(join(log.dir, "state.jsonl"), "utf8").trim().split("\n")).toHaveLength(1);
});

it.each([
  ["/v1/a/b", "/v1/a/b", "/v1/a/b"],
  ["/v1/a/b", "/v1/a/c", "/v1/a"],
  ["/v1/ab", "/v1/a", "/v1"],
  ["/v1", "/v1/x", "/v1"],
  ["/a", "/b", "/"],
  ["/", "/", "/"],
  // What a grant may not name.
  ["/v1/%2e%2e/x", "/v1/%2e%2e/x", "/v1"],
  [`/v1/${"x".repeat(300)}`, `/v1/${"x".repeat(300)}`, "/v1"],
  [`/v1${"/a".repeat(98)}/b`, `/v1${"/a".repeat(98)}/b`, `/v1${"/a".repeat(98)}`],
])("%s and %s have %s in common", (one, two, shared) => {
  expect(common(common(one, one), two)).toBe(shared);
});

it("what paths have in common is found in their beginning, however long a plugin makes them", () => {
  const parsed = vi.spyOn(URL, "parse");
  const many = "/a".repeat(500_000);
  expect([common(many, many), common("/".repeat(500_000), "/".repeat(500_000))]).toEqual(["/a".repeat(100), "/"]);
  // By binary search, not once for each slash.
  expect(parsed.mock.calls.length).toBeLessThan(20);
  parsed.mockRestore();
});
