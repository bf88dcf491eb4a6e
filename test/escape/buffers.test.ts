/** Memory that the heap limit does not count is not to be had: no buffer inside a cell can grow. */
import { expect, it } from "vitest";
import { contract, open, plugin } from "../support/host.ts";

const TRIES: readonly [what: string, code: string][] = [
  ["the constructor", `new ArrayBuffer(8, { maxByteLength: 1e9 })`],
  ["the constructor of a view's buffer", `new (new Uint8Array(8).buffer.constructor)(8, { maxByteLength: 1e9 })`],
  ["a subclass", `new (class extends ArrayBuffer {})(8, { maxByteLength: 1e9 })`],
  ["Reflect.construct", `Reflect.construct(ArrayBuffer, [8, { maxByteLength: 1e9 }], Object)`],
  ["the species", `new (ArrayBuffer[Symbol.species])(8, { maxByteLength: 1e9 })`],
  [
    "a subclass's species",
    `new (class extends ArrayBuffer {})[Symbol.species ?? "constructor"] ?? new ArrayBuffer(8, { maxByteLength: 1e9 })`,
  ],
];

contract("buffers", (isolation) => {
  it.each(TRIES)("through %s there is no buffer that grows", async (_, code) => {
    const body = `const made = ${code}; const buffer = typeof made === "function" ? new made(8, { maxByteLength: 1e9 }) : made;
      const get = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "resizable").get;
      api.on("message_sending", () => ({ content: String(get.call(buffer)) + typeof buffer.resize + typeof buffer.transfer }));`;
    await using host = await open(isolation, { plugins: [plugin("p", body)] });
    expect((await host.run("message_sending", { to: "x", content: "" }, { channelId: "chat" })).result?.content).toBe(
      "falseundefinedundefined",
    );
  });

  it("ordinary buffers work as ever", async () => {
    const body = `
      class Mine extends ArrayBuffer {}
      const mine = new Mine(4);
      const facts = [mine instanceof Mine, mine instanceof ArrayBuffer, mine.byteLength, new Uint8Array(mine).length, ArrayBuffer.isView(new DataView(mine)),
        new ArrayBuffer(8).slice(2).byteLength, ArrayBuffer.name, new Uint8Array([1, 2]).buffer instanceof ArrayBuffer];
      let called = "no";
      try { ArrayBuffer(1); } catch (error) { called = error.constructor.name; }
      api.on("message_sending", () => ({ content: JSON.stringify([...facts, called]) }));`;
    await using host = await open(isolation, { plugins: [plugin("p", body)] });
    const { result } = await host.run("message_sending", { to: "x", content: "" }, { channelId: "chat" });
    expect(JSON.parse(result!.content!)).toEqual([true, true, 4, 4, true, 6, "ArrayBuffer", true, "TypeError"]);
  });
});
