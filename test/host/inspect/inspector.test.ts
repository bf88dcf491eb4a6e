/** Which lane and which cell may speak to a debugger, and what it hears of them. */
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { Inspector } from "../../../src/host/inspect/inspector.ts";
import type { InspectAddress } from "../../../src/host/inspect/door.ts";
import type { Plugin } from "../../../src/host/plugins/plugin.ts";
import type { LaneClient } from "../../../src/host/supervisor/lane-client.ts";
import { LaneMessages } from "../../../src/host/supervisor/lane-messages.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { CdpClient } from "../../support/cdp-client.ts";

/** The host's half of a lane: what is sent to it is kept. */
class FakeLane {
  readonly generation = 1;
  readonly isConnected = true;
  readonly sent: [message: { kind: string; action?: string }, body: string | undefined][] = [];
  #told = new EventTarget();
  post(message: { kind: string }, body?: string): void {
    this.sent.push([message, body]);
    this.#told.dispatchEvent(new Event("sent"));
  }
  async until(fits: (sent: FakeLane["sent"]) => boolean): Promise<void> {
    while (!fits(this.sent)) await once(this.#told, "sent");
  }
  bodies(): string[] {
    return this.sent.flatMap(([, body]) => body ?? []);
  }
}

const frame = (scriptId: string): object => ({ location: { scriptId } });
const isGoing = (sent: FakeLane["sent"]): boolean => sent.some(([{ action }]) => action === "go");
const PLUGIN = { bundle: undefined } as unknown as Plugin;
let inspector: Inspector;
/** Cell 7 says something. */
const say = (message: object): void => inspector.message(7, JSON.stringify(message));

async function open(lane: FakeLane, cell = 7, more: { break?: boolean } = {}): Promise<InspectAddress> {
  let address: InspectAddress | undefined;
  inspector = new Inspector({ plugin: "guarded", port: 0, listening: (one) => (address = one), ...more });
  await inspector.open();
  inspector.inspectable(lane as unknown as LaneClient, PLUGIN, cell);
  if (!more.break) await lane.until(isGoing);
  return address!;
}

afterEach(() => inspector.close());

describe("an inspected plugin", () => {
  it("is loaded at once if no debugger is there", async () => {
    const lane = new FakeLane();
    await open(lane);
    expect(lane.sent.map(([message]) => message)).toEqual([{ kind: "inspect", cell: 7, action: "go" }]);
  });

  it("waits for a debugger that says so, and pauses at its first line, with `break`", async () => {
    const lane = new FakeLane();
    const address = await open(lane, 7, { break: true });
    await using client = await CdpClient.connect(address.url);
    client.send("Debugger.enable").catch(() => {});
    client.send("Runtime.runIfWaitingForDebugger").catch(() => {});
    await lane.until(() => lane.bodies().some((body) => body.includes("setBreakpointByUrl")));
    expect(isGoing(lane.sent)).toBe(false);
    const first = JSON.parse(lane.bodies().find((body) => body.includes("setBreakpointByUrl"))!) as { id: number };
    say({ id: first.id, result: { breakpointId: "1:0:0:x" } });
    await lane.until(isGoing);
  });
});

describe("a message to the debugger", () => {
  it("of a cell that is not inspected is a fault of the lane", async () => {
    await open(new FakeLane());
    expect(() => inspector.message(8, "{}")).toThrow(RangeError);
  });

  it("that is too long is a fault of the lane", async () => {
    await open(new FakeLane());
    expect(() => inspector.message(7, "x".repeat(LIMITS.inspect.messageBytes + 1))).toThrow(RangeError);
  });

  it("of any lane but the debug lane is a fault of that lane", async () => {
    await open(new FakeLane());
    for (const [isDebug, own] of [
      [false, inspector],
      [true, undefined],
    ] as const) {
      const messages = new LaneMessages({ inspector: own, plugins: { cells: { at: () => ({ plugin: PLUGIN }) } } } as never);
      for (const message of [
        { kind: "cdp", cell: 7, sizes: [] },
        { kind: "inspectable", cell: 7, sizes: [] },
      ] as { kind: "cdp" | "inspectable"; cell: number; sizes: number[] }[])
        expect(() => messages.receive({ isDebug } as LaneClient, message, ["{}"])).toThrow("not inspected");
    }
  });

  it("of Creel's own script, context and commands is left out", async () => {
    const lane = new FakeLane();
    const address = await open(lane);
    await using client = await CdpClient.connect(address.url);
    client.send("Debugger.enable").catch(() => {});
    await lane.until(() => lane.bodies().some((body) => body.includes("setBlackboxPatterns")));
    const own = JSON.parse(lane.bodies().find((body) => body.includes("setBlackboxPatterns"))!) as { id: number };
    say({ id: own.id, result: {} });
    say({ method: "Debugger.scriptParsed", params: { scriptId: "1", url: "creel:guest" } });
    say({ method: "Runtime.executionContextCreated", params: { context: { id: 1, name: "default" } } });
    say({ method: "Runtime.executionContextCreated", params: { context: { id: 2, name: "<isolated-vm>" } } });
    say({ method: "Debugger.scriptParsed", params: { scriptId: "2", url: "creel:plugin/guarded.js" } });
    say({ method: "Debugger.paused", params: { callFrames: [frame("2"), frame("1")] } });
    expect(await client.next<object>("Runtime.executionContextCreated")).toMatchObject({ context: { id: 2, name: "guarded" } });
    expect(await client.next<object>("Debugger.scriptParsed")).toMatchObject({ scriptId: "2" });
    expect(await client.next<object>("Debugger.paused")).toMatchObject({ callFrames: [frame("2")] });
  });
});

describe("a plugin that is loaded again", () => {
  it("gets the debugger's settings before it is loaded, and the debugger errors for what the old cell did not answer", async () => {
    const lane = new FakeLane();
    const address = await open(lane);
    await using client = await CdpClient.connect(address.url);
    client.send("Debugger.enable").catch(() => {});
    const set = client.send("Debugger.setBreakpointByUrl", { url: "creel:plugin/guarded.js", lineNumber: 3 });
    const lost = client.send("Runtime.evaluate", { expression: "1" });
    await lane.until(() => lane.bodies().some((body) => body.includes("Runtime.evaluate")));
    const { id } = JSON.parse(lane.bodies().find((body) => body.includes("setBreakpointByUrl"))!) as { id: number };
    inspector.message(7, JSON.stringify({ id, result: { breakpointId: "1:3:0:creel" } }));
    await set;
    const next = new FakeLane();
    inspector.inspectable(next as unknown as LaneClient, PLUGIN, 9);
    await expect(lost).rejects.toThrow("loaded again");
    await next.until(() => next.bodies().length === 3);
    expect(next.bodies().map((body) => (JSON.parse(body) as { method: string }).method)).toEqual([
      "Debugger.enable",
      "Debugger.setBlackboxPatterns",
      "Debugger.setBreakpointByUrl",
    ]);
    expect(isGoing(next.sent)).toBe(false);
    for (const body of next.bodies()) inspector.message(9, JSON.stringify({ id: (JSON.parse(body) as { id: number }).id, result: {} }));
    await next.until(isGoing);
  });

  it("is debugged in its newest isolate, however long the source map of an older one takes, and never in one that is gone", async () => {
    const lane = new FakeLane();
    const address = await open(lane);
    await using client = await CdpClient.connect(address.url);
    const maps = [8, 9, 10].map((cell) => ({ cell, ...Promise.withResolvers<{ text: string }>() }));
    const lanes = maps.map(({ cell, promise }) => {
      const one = new FakeLane();
      const bundle = { map: `{ "version": 3, "sources": ["a.ts"], "names": [], "mappings": "" }` };
      inspector.inspectable(one as unknown as LaneClient, { bundle, sourcePlace: () => promise } as unknown as Plugin, cell);
      return one;
    });
    // The last one has gone before anybody could attach; the map of the one before is there first.
    inspector.left(10);
    for (const { resolve } of [maps[2]!, maps[1]!, maps[0]!]) resolve({ text: "x" });
    await lanes[1]!.until(isGoing);
    client.send("Runtime.enable").catch(() => {});
    await lanes[1]!.until((sent) => sent.some(([, body]) => body?.includes("Runtime.enable")));
    expect(lanes[2]!.sent).toEqual([]);
  });

  it("does not wait for a debugger that has gone", async () => {
    const lane = new FakeLane();
    const address = await open(lane);
    const client = await CdpClient.connect(address.url);
    client.send("Debugger.enable").catch(() => {});
    await lane.until(() => lane.bodies().length > 0);
    const next = new FakeLane();
    inspector.inspectable(next as unknown as LaneClient, PLUGIN, 9);
    await next.until(() => next.bodies().length > 0);
    expect(isGoing(next.sent)).toBe(false);
    client.kill();
    await next.until(isGoing);
  });
});
