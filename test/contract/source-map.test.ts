/** Errors show the author's file and line: of TypeScript, over several files, with dependencies, while loading too. */
import { expect, it } from "vitest";
import { sending } from "../support/actors.ts";
import { contract, open } from "../support/host.ts";
import { folder, linkModules } from "../support/files.ts";

const ENTRY = `import type { PluginApi } from "creel/plugin";
import { explode, type Fuse } from "./lib/explode.js";

interface Unused { a: string }

export default function register(api: PluginApi) {
  api.on("message_sending", (event) => {
    const fuse: Fuse = { content: event.content };
    return explode(fuse);
  });
}
`;
const EXPLODE = `// A comment, so that lines move.
export interface Fuse { content: string }
type Never = never;

export function explode(fuse: Fuse): Never {
  throw new TypeError(\`boom \${fuse.content}\`);
}
`;

contract("source maps", (isolation) => {
  it("an error in a plugin of several TypeScript files names the author's file, line and column", async () => {
    const path = folder({ "creel.plugin.json": `{ "id": "several" }`, "index.ts": ENTRY, "lib/explode.ts": EXPLODE });
    await using host = await open(isolation, { plugins: [{ path }] });
    const { calls } = await host.run("message_sending", sending({}, "now"), { channelId: "chat" });
    expect(calls[0]).toMatchObject({ plugin: "several", status: "failed" });
    expect(calls[0]?.error?.message).toBe("the handler threw: TypeError: boom now");
    expect(calls[0]?.error?.at).toMatch(/^lib\/explode\.ts:6:\d+$/);
    expect(calls[0]?.error?.stack?.split("\n")).toEqual([
      "TypeError: boom now",
      expect.stringMatching(/^ {4}at explode \(lib\/explode\.ts:6:\d+\)$/),
      expect.stringMatching(/^ {4}at (?:\w+ \()?index\.ts:9:\d+\)?$/),
    ]);
  });

  it("an asynchronous error is mapped in the same way", async () => {
    const path = folder({
      "later.ts": `export default (api: any) => {\n  api.on("message_sending", async () => {\n    await null;\n    throw new Error("late");\n  });\n};\n`,
    });
    await using host = await open(isolation, { plugins: [{ path: `${path}/later.ts` }] });
    expect((await host.run("message_sending", sending({}), { channelId: "chat" })).calls[0]?.error?.at).toMatch(/^later\.ts:4:\d+$/);
  });

  it("an error while loading names its place too", async () => {
    const path = folder({ "broken.ts": `const x: number = 1;\n\nthrow new Error("top " + x);\n` });
    await using host = await open(isolation, { allowFailed: true, plugins: [{ path: `${path}/broken.ts` }] });
    expect(host.inspect("broken").error).toMatchObject({ code: "ERR_PLUGIN_LOAD", at: expect.stringMatching(/^broken\.ts:3:\d+$/) });
  });

  it("a syntax error names the file and line, and the plugin stays visible", async () => {
    const path = folder({ "typo.ts": `export default (api) => {\n  api.on(;\n};\n` });
    await using host = await open(isolation, { allowFailed: true, plugins: [{ path: `${path}/typo.ts` }] });
    expect(host.inspect("typo")).toMatchObject({ status: "failed", error: { code: "ERR_PLUGIN_BUNDLE" } });
    expect(host.inspect("typo").error?.message).toMatch(/typo\.ts:2/);
  });

  it("a plugin given as text is plugin.ts", async () => {
    await using host = await open(isolation, {
      plugins: [
        { id: "text", source: `export default (api: any) => {\n  api.on("message_sending", () => { throw new Error("x"); });\n};` },
      ],
    });
    expect((await host.run("message_sending", sending({}), { channelId: "chat" })).calls[0]?.error?.at).toMatch(/^plugin\.ts:2:\d+$/);
  });

  it("a pure-JavaScript dependency is bundled in, works, and appears under its own name in a stack", async () => {
    const path = folder({
      "index.ts": `import * as z from "zod";\nimport pTimeout from "p-timeout";\n\nconst Event = z.object({ content: z.string().max(3) });\nexport default (api: any) => {\n  api.on("message_sending", async (event: unknown) => {\n    const { content } = Event.parse(event);\n    return { content: await pTimeout(Promise.resolve(content + "!"), { milliseconds: content === "neg" ? -1 : 1000 }) };\n  });\n};\n`,
      "creel.plugin.json": `{ "id": "with-zod", "version": "1.2.3", "name": "With zod" }`,
    });
    linkModules(path);
    await using host = await open(isolation, { plugins: [{ path }] });
    expect(host.inspect("with-zod")).toMatchObject({ status: "ready", version: "1.2.3", name: "With zod" });
    expect((await host.run("message_sending", sending({}, "ab"), { channelId: "chat" })).result?.content).toBe("ab!");
    const failed = await host.run("message_sending", sending({}, "too long"), { channelId: "chat" });
    expect(failed.calls[0]?.status).toBe("failed");
    expect(failed.calls[0]?.error?.message).toContain("ZodError");
    expect(failed.calls[0]?.error?.at).toMatch(/^index\.ts:7:\d+$/);
    const inside = await host.run("message_sending", sending({}, "neg"), { channelId: "chat" });
    expect(inside.calls[0]?.error?.at).toMatch(/p-timeout\/index\.js:\d+:\d+$/);
    expect(inside.calls[0]?.error?.stack).toMatch(/index\.ts:8:\d+/);
  });

  it("no path of the host is in an error", async () => {
    const path = folder({ "index.ts": ENTRY, "lib/explode.ts": EXPLODE });
    await using host = await open(isolation, { plugins: [{ id: "several", path }] });
    const { calls } = await host.run("message_sending", sending({}), { channelId: "chat" });
    expect(JSON.stringify(calls)).not.toContain(path);
    expect(JSON.stringify(calls)).not.toContain(process.cwd());
  });
});
