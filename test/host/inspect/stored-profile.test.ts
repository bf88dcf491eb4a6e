/** Profiles in the state folder: written once, read by `explain` and the console, and no name leads out of the folder. */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { growthOf, profileOf } from "../../../src/console/explained-run.ts";
import type { HeapProfile } from "../../../src/host/inspect/heap-profile.ts";
import { growthPath, profilePath, readProfile, writeGrowth, writeProfile } from "../../../src/host/inspect/stored-profile.ts";
import { folder } from "../../support/files.ts";

const LINE = { url: "index.ts", line: 4, function: "judge", ms: 90, share: 0.9, code: "slow();" };
const PROFILE = { totalMs: 100, isCut: true, lines: [LINE], file: '{"nodes":[],"samples":[],"timeDeltas":[]}' };
const run = (code: string): never =>
  ({ runId: "h1-7", calls: [{ plugin: "fine" }, { plugin: "slow", error: { code, message: "m" } }] }) as never;

describe("a profile", () => {
  it("is what DevTools opens, with the author's lines beside it", async () => {
    const path = profilePath(folder({}), "h1-7", "slow");
    await writeProfile(path, PROFILE);
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ nodes: [], creel: { lines: [LINE] } });
    expect(await readProfile(path)).toEqual({ totalMs: 100, isCut: true, lines: [LINE] });
    writeFileSync(path, '{"creel":{}}');
    expect(await readProfile(path)).toBeUndefined();
  });

  it("stays in its folder, whatever a run or a plugin is called", () => {
    const root = folder({});
    for (const [runId, plugin] of [
      ["../../x", "../y"],
      ["/etc", "passwd"],
      ["a\0b", "@scope/name"],
    ] as const)
      expect(dirname(profilePath(root, runId, plugin))).toBe(join(root, "profiles"));
  });

  it("is in the console's data about a call that ran out of CPU time, and about no other", async () => {
    const root = folder({});
    await writeProfile(profilePath(root, "h1-7", "slow"), PROFILE);
    expect(await profileOf(root, run("ERR_CALL_CPU"))).toMatchObject({ plugin: "slow", lines: [LINE] });
    // On a busy machine a turn is ended before it has had all of its CPU time.
    expect(await profileOf(root, run("ERR_CALL_TURN"))).toMatchObject({ plugin: "slow", lines: [LINE] });
    expect(await profileOf(root, run("ERR_CALL_MEMORY"))).toBeUndefined();
    expect(await profileOf(undefined, run("ERR_CALL_CPU"))).toBeUndefined();
  });

  it("of memory is in the console's data about a call that ran out of it, without the snapshot", async () => {
    const root = folder({});
    const grew = [{ name: "Town", count: 5, bytes: 500 }];
    const path = growthPath(root, "h1-7", "slow");
    const profile: HeapProfile = { beforeBytes: 1, afterBytes: 2, isCut: true, stack: [], grew, file: "the snapshot" };
    await writeGrowth(path, profile);
    expect(await growthOf(root, run("ERR_CALL_MEMORY"))).toMatchObject({ plugin: "slow", isCut: true, grew });
    expect(await growthOf(root, run("ERR_CALL_CPU"))).toBeUndefined();
    expect(readFileSync(path, "utf8")).not.toContain("the snapshot");
    writeFileSync(path, "{}");
    expect(await growthOf(root, run("ERR_CALL_MEMORY"))).toBeUndefined();
  });
});
