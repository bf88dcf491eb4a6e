/** An exact clock is what timing attacks are made of: a cell gets one only if it was granted, and nothing else with it. */
import { expect, it } from "vitest";
import { contract, plugin, sharedHost } from "../support/host.ts";

/** Reads all clocks until they have ticked a few times. */
const READINGS = `
  const read = [], order = [performance.now()];
  for (let ticks = 0; ticks < 3; ) {
    const now = performance.now();
    read.push(now, new Event("x").timeStamp, new PerformanceMark("m").startTime);
    if (now !== order.at(-1)) { ticks += 1; order.push(now); }
  }
  const answer = { whole: read.every(Number.isInteger), rising: order.every((now, at) => at === 0 || now > order[at - 1]), wholeOrigin: Number.isInteger(performance.timeOrigin) };
  api.on("message_sending", (event) => event.to === api.id ? { content: JSON.stringify(answer) } : undefined);`;

/** The clock of the lane is a function of ours: nothing that a plugin hands to it matters, and the plugin never holds it. */
const PROBES = `
  const bad = { toString() { throw new Error("called"); }, valueOf() { throw new Error("called"); } };
  const numbers = [performance.now(bad, () => 1, Symbol("s")), performance.now.call(performance, globalThis)];
  const isClock = (fn) => { try { const told = Reflect.apply(fn, undefined, []); return typeof told === "number" && told > 1 && !Number.isInteger(told); } catch { return false; } };
  const held = Object.getOwnPropertyNames(globalThis).flatMap((name) => { const value = globalThis[name]; return Object(value) === value ? [[name, value], ...Object.entries(value)] : []; });
  const answer = { numbers: numbers.map((one) => typeof one), clocks: held.filter(([, one]) => typeof one === "function" && isClock(one)).map(([name]) => name) };
  api.on("message_sending", (event) => event.to === api.id ? { content: JSON.stringify(answer) } : undefined);`;

contract("the clock", (isolation) => {
  const hooks = { cpuMs: 2_000 };
  const shared = sharedHost(isolation, {
    plugins: [
      plugin("coarse", READINGS, { hooks }),
      plugin("fine", READINGS, { hooks, grants: { clock: "fine" } }),
      plugin("probe", PROBES, { hooks, grants: { clock: "fine" } }),
    ],
  });
  const told = async (id: string) => {
    expect(shared.host.inspect(id).error).toBeUndefined();
    return JSON.parse((await shared.host.run("message_sending", { to: id, content: "" })).result!.content!) as Record<string, unknown>;
  };

  it("ticks in whole milliseconds, and never goes back", async () => {
    expect(await told("coarse")).toEqual({ whole: true, rising: true, wholeOrigin: true });
  });

  it("is exact for a plugin that was granted an exact one", async () => {
    expect(await told("fine")).toEqual({ whole: false, rising: true, wholeOrigin: true });
  });

  it("takes nothing from a plugin, and is not in its hands", async () => {
    expect(await told("probe")).toEqual({ numbers: ["number", "number"], clocks: [] });
  });
});
