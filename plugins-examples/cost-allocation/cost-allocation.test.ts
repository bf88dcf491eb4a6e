/** The real plugin in the real sandbox: which patches count, and for which model, also after a restart. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openHost } from "creel";
import type { Catalog, EventOf, Host } from "creel";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

type Patch = Omit<EventOf<Catalog["session:patch"]>["context"]["patch"], "key">;

describe.each(["thread", "process"] as const)("cost-allocation, %s isolation", (isolation) => {
  let host: Host;
  const lines: string[] = [];

  const stateDir = mkdtempSync(join(tmpdir(), "cost-allocation-"));
  const start = async () => {
    const plugins = [{ path: import.meta.dirname, grants: { kv: true as const } }];
    host = await openHost({ isolation, lanes: 1, config: { stateDir }, plugins, logger: pino({ level: "silent" }) });
    host.on("log", ({ text }) => lines.push(text));
  };

  beforeAll(start);
  afterAll(async () => {
    await host.close();
    rmSync(stateDir, { recursive: true });
  });

  const patched = (sessionKey: string, patch: Patch) =>
    host.run("session:patch", {
      type: "session",
      action: "patch",
      sessionKey,
      context: { sessionEntry: { sessionId: "s1" }, patch: { key: sessionKey, ...patch } },
    });

  it("counts a session's new model, per model", async () => {
    expect(host.inspect("cost-allocation")).toMatchObject({ status: "ready", diagnostics: [] });
    await patched("agent:main:a", { model: "opus" });
    await patched("agent:ops:b", { model: "haiku" });
    await patched("agent:main:a", { model: "haiku" });
    await vi.waitFor(() => expect(lines).toHaveLength(3));
    expect(lines.splice(0)).toEqual([
      "agent main: (default) -> opus; so far opus 1",
      "agent ops: (default) -> haiku; so far haiku 1, opus 1",
      "agent main: opus -> haiku; so far haiku 2, opus 1",
    ]);
  });

  it("does not count a patch that sets what was set, or is about something else", async () => {
    await patched("agent:main:a", { model: "haiku" });
    await patched("agent:main:a", { label: "Release notes" });
    await patched("agent:main:a", { model: null });
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    expect(lines.splice(0)).toEqual(["agent main: haiku -> (default); so far (default) 1, haiku 2, opus 1"]);
  });

  it("counts sessions whose key names no agent", async () => {
    await patched("main", { model: "opus" });
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    expect(lines.splice(0)[0]).toMatch(/^agent unknown: \(default\) -> opus/);
  });

  it("goes on counting after a restart", async () => {
    await host.close();
    await start();
    await patched("agent:main:a", { model: "opus" });
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    expect(lines.splice(0)).toEqual(["agent main: (default) -> opus; so far (default) 1, haiku 2, opus 3"]);
  });
});
