/** Entries of channels whose parts are named by their files: the bundler has put a part's loader beside its name. */
import { expect, it } from "vitest";
import * as bundled from "../../../../src/sandbox/guest/sdk/bundled-entry.ts";

const URL_OF = "file:///plugin/index.ts";
const log: unknown[] = [];
/** A part as the bundler leaves it. */
const part = (specifier: string, exports: object, exportName?: string) => ({
  specifier,
  ...(exportName !== undefined && { exportName }),
  [Symbol.for("creel.part")]: () => {
    log.push(specifier);
    return exports;
  },
});
const load = (reference: object): unknown => bundled.loadBundledEntryExportSync(URL_OF, reference as never);

it("a part gives what it exports, by name or as a whole, and of its default export if it has one", () => {
  expect(load(part("./a.js", { a: 1 }, "a"))).toBe(1);
  expect(load(part("./a.js", { a: 1 }))).toEqual({ a: 1 });
  expect(load(part("./a.js", { default: { b: 2 }, a: 1 }, "b"))).toBe(2);
  expect(load(part("./a.js", { default: { b: 2 } }))).toEqual({ b: 2 });
  expect(() => load(part("./a.js", { default: { b: 2 }, a: 1 }, "a"))).toThrow('missing export "a" from bundled entry module ./a.js');
  expect(() => load({ specifier: "./gone.js" })).toThrow('bundled plugin entry "./gone.js" failed to open from "/plugin/index.ts"');
});

it("a channel's entry registers in OpenClaw's order, and loads the file of its runtime but none of the channel", () => {
  log.length = 0;
  const api = { registerChannel: () => log.push("channel"), runtime: "runtime" };
  const note = (name: string) => (given: unknown) => log.push(name, given === api);
  const entry = bundled.defineBundledChannelEntry({
    id: "c",
    importMetaUrl: URL_OF,
    plugin: part("./channel.js", { channel: "the channel" }, "channel"),
    runtime: part("./runtime.js", { set: (runtime: unknown) => log.push(runtime) }, "set"),
    accountInspect: part("./inspect.js", { inspect: "it" }, "inspect"),
    configSchema: () => "schema",
    registerFull: note("full"),
    registerCliMetadata: note("cli"),
    registerCapabilities: note("capabilities"),
  }) as Record<string, unknown> & { register(api: unknown): void; loadChannelPlugin(): unknown };
  expect(log).toEqual([]);
  entry.register(api);
  expect(log).toEqual(["channel", "./runtime.js", "runtime", "cli", true, "full", true, "capabilities", true]);
  expect(entry).toMatchObject({ id: "c", kind: "bundled-channel-entry", configSchema: "schema", features: { accountInspect: true } });
  expect(entry.loadChannelPlugin()).toBe("the channel");
  expect([typeof entry["loadChannelAccountInspector"], typeof entry["loadChannelOutbound"]]).toEqual(["function", "undefined"]);
});

it("of a plugin that is nothing but a channel no file is loaded", () => {
  log.length = 0;
  const runtime = part("./channel.js", { set: () => log.push("runtime") }, "set");
  const entry = bundled.defineBundledChannelEntry({ importMetaUrl: URL_OF, plugin: part("./channel.js", {}), runtime }) as {
    register(api: unknown): void;
    setChannelRuntime(runtime: unknown): void;
  };
  entry.register({ registerChannel: () => log.push("channel") });
  expect(log).toEqual(["channel"]);
  entry.setChannelRuntime({});
  expect(log).toEqual(["channel", "./channel.js", "runtime"]);
});

it("an entry for setting up has loaders of the parts that it names", () => {
  const entry = bundled.defineBundledChannelSetupEntry({
    importMetaUrl: URL_OF,
    plugin: part("./setup.js", { default: "the setup" }),
    legacySessionSurface: part("./old.js", { old: 1 }, "old"),
  }) as Record<string, () => unknown>;
  expect([entry["kind"], entry["loadSetupPlugin"]!(), entry["loadLegacySessionSurface"]!()]).toEqual([
    "bundled-channel-setup-entry",
    "the setup",
    1,
  ]);
  expect(Object.keys(entry)).toEqual(["kind", "loadSetupPlugin", "loadLegacySessionSurface"]);
});
