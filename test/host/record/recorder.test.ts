/** The recorder: off by default and visible when on; bounded in bytes and age; only what the operator named. */
import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openHost } from "creel";
import type { CreelConfig } from "creel";
import { RecordingFiles, recordingFiles } from "../../../src/host/record/recording-files.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { Recordings } from "../../../src/state/recordings.ts";
import { creelHere } from "../../support/cli-in-process.ts";
import { folder, write } from "../../support/files.ts";
import { plugin, recorder } from "../../support/host.ts";

const PLUGINS = [plugin("p", `api.on("before_tool_call", () => {}); api.on("message_sending", () => {});`)];

async function recorded(record: CreelConfig["record"]): Promise<{ stateDir: string; messages: string[] }> {
  const stateDir = folder({});
  const { logger, lines } = recorder();
  const config: CreelConfig = { stateDir, sandbox: { walls: "none", spare: false }, ...(record && { record }) };
  await using host = await openHost({ isolation: "thread", lanes: 1, plugins: PLUGINS, config, logger });
  await host.run("before_tool_call", { toolName: "exec", params: { text: "x" } });
  await host.run("before_tool_call", { toolName: "exec", params: { text: "x".repeat(LIMITS.record.eventChars) } });
  await host.run("message_sending", { to: "a", content: "b" }, { channelId: "c" });
  await host.close();
  return { stateDir, messages: lines.map(({ message }) => message) };
}

describe("the recorder", () => {
  it("is off by default: nothing is written, and nothing said", async () => {
    const { stateDir, messages } = await recorded(undefined);
    expect(existsSync(join(stateDir, "recordings"))).toBe(false);
    expect(messages.filter((message) => message.includes("recorded"))).toEqual([]);
  });

  it("says so at the start, records the hooks that were named, and counts what is too large", async () => {
    const { stateDir, messages } = await recorded({ enabled: true, hooks: ["before_tool_call"] });
    const runs = await Array.fromAsync(new Recordings(stateDir).runs());
    expect(runs).toMatchObject([
      { hook: "before_tool_call", decision: "pass", calls: [{ plugin: "p", status: "ok" }], event: { params: { text: "x" } } },
    ]);
    expect(messages).toContain("whole events are recorded: record.enabled is set");
    expect(messages).toContain("runs were not recorded: too large, or too many at once");
  });

  it("needs a state folder", async () => {
    await expect(openHost({ config: { record: { enabled: true } } })).rejects.toMatchObject({ code: "ERR_CONFIG_INVALID" });
  });

  it("is a warning of the doctor", async () => {
    const root = folder({});
    write(root, { "creel.json": JSON.stringify({ record: { enabled: true }, stateDir: "state" }) });
    const { out } = await creelHere("doctor", "--config", join(root, "creel.json"));
    expect(out).toContain("record.enabled is set");
  });
});

const sizes = (dir: string) => readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);

describe("its files", () => {
  it("have together at most the bytes that were set, and keep the latest lines", async () => {
    const stateDir = folder({});
    const files = new RecordingFiles(stateDir, "h1", { maxBytes: 8_000, maxAgeMs: 1e9 });
    for (let at = 0; at < 200; at += 1) {
      await files.append(`${String(at).padStart(99)}\n`);
      expect(sizes(join(stateDir, "recordings"))).toBeLessThanOrEqual(8_000);
    }
    const names = await recordingFiles(join(stateDir, "recordings"));
    expect(names.length).toBeGreaterThan(4);
  });

  it("are removed when they are too old, those of other hosts, too, and nothing else is", async () => {
    const stateDir = folder({ "recordings/1700000000000-h0.jsonl": "{}\n", "recordings/notes.txt": "mine" });
    const files = new RecordingFiles(stateDir, "h1", { maxBytes: 8_000, maxAgeMs: 60_000 });
    const now = Date.now();
    utimesSync(join(stateDir, "recordings/1700000000000-h0.jsonl"), now / 1000 - 61, now / 1000 - 61);
    await files.append("{}\n");
    await files.prune();
    expect(readdirSync(join(stateDir, "recordings")).toSorted()).toEqual([expect.stringMatching(/^\d{13}-h1\.jsonl$/), "notes.txt"]);
    await files.prune(now + 3_600_000);
    expect(readdirSync(join(stateDir, "recordings"))).toEqual(["notes.txt"]);
  });

  it("a line that cannot be read is skipped and counted", async () => {
    const stateDir = folder({ "recordings/1700000000000-h0.jsonl": "" });
    const line = { v: 1, at: 5, runId: "r", hook: "h", event: {}, context: {}, decision: "pass", calls: [] };
    writeFileSync(join(stateDir, "recordings/1700000000000-h0.jsonl"), `{"v":2}\n${JSON.stringify(line)}\n{"half`);
    const recordings = new Recordings(stateDir);
    expect(await Array.fromAsync(recordings.runs())).toEqual([line]);
    expect(recordings.unreadable).toBe(2);
    expect(await Array.fromAsync(recordings.runs(6))).toEqual([]);
    expect(await recordings.find("r")).toEqual(line);
  });
});
