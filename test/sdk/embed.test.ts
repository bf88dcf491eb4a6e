/** What a gateway developer meets first: the weight of the import, and a host whose tests have no plugins yet. */
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { CreelError, defineHook, openHost, z } from "creel";
import type { SessionPatch } from "creel";
import { modulesOf, packageOf } from "../../scripts/embed.ts";
import { silentLogger } from "../../src/host/report/silent-logger.ts";

const entry = pathToFileURL(fileURLToPath(new URL("../../src/index.ts", import.meta.url))).href;

it('import "creel" loads at most 150 modules, and nothing that only some gateways need', () => {
  const urls = modulesOf(entry);
  expect(urls.length).toBeGreaterThan(50);
  expect(urls.length).toBeLessThanOrEqual(150);
  const packages = new Set(urls.map(packageOf));
  for (const heavy of ["undici", "yaml", "rolldown", "isolated-vm", "piscina", "jsonc-parser"]) expect([...packages]).not.toContain(heavy);
  expect(urls.filter((url) => /\/src\/(?:install|bundler|cli|serve|sandbox)\//.test(url))).toEqual([]);
});

const code = async (work: () => unknown): Promise<string> => {
  try {
    await work();
    return "none";
  } catch (error) {
    return error instanceof CreelError ? error.code : String(error);
  }
};

describe("a host without plugins", () => {
  /** For calls that the types forbid. */
  type Loose = { run(hook: string, event: unknown): Promise<unknown>; emit(hook: string, event: unknown): void };
  const base = { isolation: "thread", lanes: 1, logger: silentLogger } as const;

  it("with strict: true refuses a wrong event, and emit throws; without it nobody would see the event, and it passes", async () => {
    const ping = defineHook({
      name: "ping",
      kind: "gate",
      summary: "",
      event: z.object({ n: z.number() }),
      context: z.object({}),
      result: z.object({ stop: z.boolean().optional() }),
      merge: { stop: { rule: "any" } },
      terminal: { field: "stop", decision: "cancel" },
    });
    await using strict = await openHost({ ...base, strict: true, hooks: { ping } });
    await using usual = await openHost({ ...base, hooks: { ping } });
    const [mine, loose]: Loose[] = [strict, usual] as never[];
    expect(await code(() => mine!.run("ping", { n: "1" }))).toBe("ERR_EVENT_INVALID");
    expect(await code(() => loose!.run("ping", { n: "1" }))).toBe("none");
    expect(await code(() => mine!.emit("gateway_strt", {}))).toBe("ERR_HOOK_UNKNOWN");
    expect(await code(() => mine!.emit("ping", { n: 1 }))).toBe("ERR_HOOK_KIND");
    expect(await code(() => loose!.emit("gateway_strt", {}))).toBe("none");
    expect((await strict.run("ping", { n: 1 })).decision satisfies "pass" | "cancel").toBe("pass");
  });

  it("answers plugins about sessions, and patches them, with functions that are not async", async () => {
    const source = `export default (api) => { api.on("before_tool_call", async () => {
      const patched = await api.session.patch({ key: "k", label: "new" });
      return { params: { ...(await api.session.get("k")), patched } };
    }); };`;
    const sessions = new Map<string, Record<string, unknown>>([["k", { sessionId: "k", updatedAt: 1 }]]);
    const gateway = {
      getSession: (key: string) => sessions.get(key),
      patchSession: ({ key, label }: SessionPatch) => {
        sessions.set(key, { ...sessions.get(key), label });
        return { sessionEntry: sessions.get(key)! };
      },
    };
    const plugins = [{ id: "writer", source, grants: { session: ["get" as const, "patch" as const] } }];
    await using host = await openHost({ ...base, plugins, gateway });
    const session = { sessionId: "k", updatedAt: 1, label: "new" };
    const { result } = await host.run("before_tool_call", { toolName: "t", params: {} });
    expect(result?.params).toEqual({ ...session, patched: session });
    expect(await host.patchSession({ key: "k", label: "newer" })).toEqual({ ...session, label: "newer" });
  });
});
