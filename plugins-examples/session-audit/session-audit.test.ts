/** The real plugin in the real sandbox: what it notes, what it leaves alone, and that it counts in module state. */
import { openHost } from "creel";
import type { EventOf, Catalog, Host } from "creel";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

type Patch = EventOf<Catalog["session:patch"]>["context"]["patch"];

describe.each(["thread", "process"] as const)("session-audit, %s isolation", (isolation) => {
  let host: Host;
  const lines: string[] = [];

  beforeAll(async () => {
    host = await openHost({ isolation, lanes: 1, plugins: [{ path: import.meta.dirname }], logger: pino({ level: "silent" }) });
    host.on("log", ({ plugin, level, text }) => lines.push(`${plugin} ${level}: ${text}`));
  });
  afterAll(() => host.close());

  const patched = (patch: Patch) =>
    host.run("session:patch", {
      type: "session",
      action: "patch",
      sessionKey: patch.key,
      context: { sessionEntry: { sessionId: "s1" }, patch },
    });

  it("notes a new model and a new label, one line each, and counts them", async () => {
    const outcome = await patched({ key: "main", model: "opus", label: "Release notes" });
    expect(outcome.calls).toMatchObject([{ plugin: "session-audit", status: "ok" }]);
    await vi.waitFor(() =>
      expect(lines.splice(0)).toEqual([
        'session-audit info: session main changed its model to "opus" (model change no. 1)',
        'session-audit info: session main changed its label to "Release notes" (label change no. 1)',
      ]),
    );
  });

  it("says nothing about a patch of something else", async () => {
    await patched({ key: "main", thinkingLevel: "high" });
    await patched({ key: "other", model: null });
    await vi.waitFor(() => expect(lines.splice(0)).toEqual(["session-audit info: session other cleared its model (model change no. 2)"]));
  });

  it("hears an emitted event, for which the gateway does not wait", async () => {
    host.emit("session:patch", {
      type: "session",
      action: "patch",
      sessionKey: "main",
      context: { sessionEntry: {}, patch: { key: "main", label: "Later" } },
    });
    await vi.waitFor(() =>
      expect(lines.splice(0)).toEqual(['session-audit info: session main changed its label to "Later" (label change no. 2)']),
    );
  });

  it("cannot be made to forge a log line by a label with a line break in it", async () => {
    await patched({ key: "main", label: "a\nsession-audit info: forged" });
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    expect(lines.splice(0)[0]).not.toContain("\n");
  });
});
