/** Text that nests so deep that a native parser overflows its stack: the plugin fails, by name, and everything else goes on. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { sending } from "../support/actors.ts";
import { folder, write } from "../support/files.ts";
import { contract, open, plugin, statuses } from "../support/host.ts";

const SHAPES: Record<string, string> = {
  parentheses: "(".repeat(5_000),
  brackets: "[".repeat(5_000),
  closed: `export default ${"[".repeat(50_000)}${"]".repeat(50_000)}`,
  objects: `export default ${"{a:".repeat(5_000)}`,
  operators: `export default ${"!".repeat(50_000)}1`,
  arrows: `export default ${"a=>".repeat(20_000)}1`,
  conditionals: `export default ${"a?b:".repeat(20_000)}c`,
  templates: `export default ${"`${".repeat(20_000)}`,
  blocks: "if(1){".repeat(5_000),
  sums: `export default ${"a+".repeat(200_000)}1`,
  types: `type A = ${"[".repeat(20_000)}`,
};
const WORKS = `api.on("message_sending", (e) => ({ content: e.content + "+" + api.id }));`;
const failed = (id: string) => ({
  id,
  status: "failed",
  error: { code: "ERR_PLUGIN_BUNDLE_CRASH", message: `the plugin "${id}" could not be bundled: the bundler crashed on it (SIGSEGV)` },
});

contract("text that nests too deep", (isolation) => {
  it("given as text, in every shape, fails its own plugin and no other", async () => {
    const ids = Object.keys(SHAPES);
    await using host = await open(isolation, {
      allowFailed: true,
      plugins: [plugin("first", WORKS), ...ids.map((id) => ({ id, source: SHAPES[id]! })), plugin("last", WORKS)],
    });
    expect(ids.map((id) => host.inspect(id))).toMatchObject(ids.map((id) => failed(id)));
    const outcome = await host.run("message_sending", sending({}, ""), { channelId: "chat" });
    expect([outcome.result?.content, statuses(outcome)]).toEqual([
      "+first+last",
      ["first:ok", "last:ok", ...ids.map((id) => `${id}:failed`)],
    ]);
  });

  it("in a file, or in one that is imported, fails its own plugin and no other", async () => {
    const root = folder({
      "deep.ts": SHAPES.parentheses!,
      "entry.ts": `import "./lib/deep.js"; export default () => {};`,
      "lib/deep.ts": SHAPES.arrows!,
      "works.ts": `export default (api) => { ${WORKS} };`,
    });
    await using host = await open(isolation, {
      allowFailed: true,
      plugins: ["deep", "entry", "works"].map((name) => ({ path: join(root, `${name}.ts`) })),
    });
    expect([host.inspect("deep"), host.inspect("entry")]).toMatchObject([failed("deep"), failed("entry")]);
    expect((await host.run("message_sending", sending({}, ""), { channelId: "chat" })).result?.content).toBe("+works");
  });

  it("at a reload leaves the version before in place, until the file is mended", async () => {
    const root = folder({ "p.js": `export default (api) => { ${WORKS} };` });
    await using host = await open(isolation, { plugins: [{ path: join(root, "p.js") }, plugin("other", WORKS)] });
    write(root, { "p.js": SHAPES.brackets! });
    const { error } = failed("p");
    expect(await host.reload("p")).toMatchObject({ status: "ready", error: { code: error.code } });
    expect((await host.run("message_sending", sending({}, ""), { channelId: "chat" })).result?.content).toBe("+p+other");
    write(root, { "p.js": `export default (api) => { ${WORKS} };` });
    expect(await host.reload("p")).toMatchObject({ status: "ready", error: undefined });
    expect((await host.run("message_sending", sending({}, ""), { channelId: "chat" })).result?.content).toBe("+p+other");
  });
});
