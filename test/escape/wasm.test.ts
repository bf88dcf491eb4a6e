/** WebAssembly, where it is granted, has no shared memory: a wait in one would hold the lane where V8 cannot stop it. */
import { expect, it } from "vitest";
import type { PluginSpec } from "creel";
import { contract, sharedHost } from "../support/host.ts";

/** A module that waits for ever in its memory (`memory.atomic.wait32`), with these flags of the memory: 3 is shared. */
const waits = (flags: number): number[] =>
  [
    [0, 97, 115, 109, 1, 0, 0, 0],
    [1, 4, 1, 96, 0, 0],
    [3, 2, 1, 0],
    [5, 4, 1, flags, 1, 1],
    [7, 5, 1, 1, 119, 0, 0],
  ]
    .concat([[10, 15, 1, 13, 0, 65, 0, 65, 0, 66, 127, 254, 1, 2, 0, 26, 11]])
    .flat();
/** Two numbers are added. */
const ADDS = [0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 127, 127, 1, 127, 3, 2, 1, 0, 7, 7, 1, 3, 97, 100, 100, 0, 0].concat([
  10, 9, 1, 7, 0, 32, 0, 32, 1, 106, 11,
]);

const TRIES = {
  constructor: `new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true })`,
  "the constructor behind it": `new (new WebAssembly.Memory({ initial: 1 }).constructor)({ initial: 1, maximum: 1, shared: true })`,
  "a getter that changes its mind": `(() => { let n = 0; const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, get shared() { return n++ > 0; } }); if (memory.buffer instanceof ArrayBuffer) throw new Error("shared memory is not available"); })()`,
  "a module": `new WebAssembly.Module(shared)`,
  "a module's constructor": `new (new WebAssembly.Module(adds).constructor)(shared)`,
  "a module in a view": `new WebAssembly.Module(new DataView(shared.buffer))`,
  "a module in a buffer": `new WebAssembly.Module(shared.buffer)`,
  "a module of another width": `new WebAssembly.Module(new Uint16Array(shared.buffer))`,
  compile: `await WebAssembly.compile(shared)`,
  instantiate: `await WebAssembly.instantiate(shared)`,
  "a view that lies about its bytes": `(() => { class Lies extends Uint8Array { get buffer() { return adds.buffer; } get byteLength() { return 8; } } return new WebAssembly.Module(new Lies(shared)); })()`,
} as const;

const SOURCE = `
  const shared = new Uint8Array([${waits(3).join()}]), plain = new Uint8Array([${waits(1).join()}]), adds = new Uint8Array([${ADDS.join()}]);
  const tries = { ${Object.entries(TRIES)
    .map(([name, code]) => `${JSON.stringify(name)}: async () => { ${code}; }`)
    .join()} };
  export default (api) => {
    api.on("message_sending", async (event) => {
      if (event.content !== "works") {
        try { await tries[event.content](); } catch (error) { return { content: error.message }; }
        return { content: "got it" };
      }
      const { instance, module } = await WebAssembly.instantiate(adds.buffer);
      const again = await WebAssembly.instantiate(await WebAssembly.compile(adds));
      const memory = new WebAssembly.Memory({ initial: 1, maximum: 2 });
      memory.grow(1);
      let waited = "";
      try { new WebAssembly.Instance(new WebAssembly.Module(plain)).exports.w(); } catch (error) { waited = error.constructor.name; }
      return { content: JSON.stringify([
        instance.exports.add(2, 3), again.exports.add(4, 5), memory.buffer.byteLength, memory instanceof WebAssembly.Memory,
        module instanceof WebAssembly.Module, WebAssembly.Module.exports(module).map(({ name }) => name), waited,
      ]) };
    });
  };`;
const PLUGIN: PluginSpec = { id: "granted", source: SOURCE, grants: { wasm: true }, hooks: { cpuMs: 1_000 } };

contract("WebAssembly that was granted", (isolation) => {
  const granted = sharedHost(isolation, { plugins: [PLUGIN] });
  const said = async (content: string): Promise<string> => {
    const { result, calls } = await granted.host.run("message_sending", { to: "x", content }, { channelId: "chat" });
    return result?.content ?? JSON.stringify(calls);
  };

  it.each(Object.keys(TRIES))("gives no shared memory: %s", async (name) => {
    expect(await said(name)).toContain("shared memory is not available");
  });

  it("works, and a wait in a memory that is not shared is an error", async () => {
    expect(JSON.parse(await said("works"))).toEqual([5, 9, 2 * 65_536, true, true, ["add"], "RuntimeError"]);
  });
});
