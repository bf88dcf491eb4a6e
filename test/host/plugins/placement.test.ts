/** Which lane a plugin is given, which groups move, and which never do. */
import { beforeEach, describe, expect, it } from "vitest";
import { CpuShare } from "../../../src/host/blame/cpu-share.ts";
import { groupsOf, Placement } from "../../../src/host/plugins/placement.ts";
import type { Plugin } from "../../../src/host/plugins/plugin.ts";
import type { Registry } from "../../../src/host/plugins/registry.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";

const KINDS: Record<string, string> = { gate: "gate", modify: "modify", other: "modify", seen: "observe", judged: "evaluate" };
let plugins: Plugin[] = [];
let moves: string[] = [];

function fake(id: string, lane: number, hooks: readonly string[] | undefined, more: Partial<Plugin> = {}): Plugin {
  const known = hooks?.map((hook) => ({ hook, options: {} }));
  const laneShare = new CpuShare(() => 0, LIMITS.lane.shareMs);
  const made = { id, lane, status: "ready", home: {}, knownHooks: known, registered: known, laneShare, ...more } as unknown as Plugin;
  plugins.push(made);
  return made;
}

function placement(lanes: number): Placement {
  const registry = {
    hook: (key: string) => ({ kind: KINDS[key] }),
    handlersOf: (one: Plugin) => (one.registered ?? []).map(({ hook }) => ({ key: hook })),
  };
  return new Placement({
    lanes,
    registry: registry as unknown as Registry,
    list: () => plugins,
    move: async (one, lane) => {
      moves.push(`${one.id} to ${lane}`);
      one.lane = lane;
    },
  });
}

beforeEach(() => {
  plugins = [];
  moves = [];
});

it("plugins are grouped by the hooks they share, directly or through others", () => {
  const hooks: Record<string, string[]> = { a: ["1"], b: ["2"], c: [], d: ["1", "2"], e: ["3"] };
  expect(groupsOf(Object.keys(hooks), (id) => hooks[id]!)).toEqual([["a", "b", "d"], ["c"], ["e"]]);
});

describe("a plugin that is about to load", () => {
  it("goes where plugins with its sequential hooks live", () => {
    fake("a", 1, ["gate"]);
    fake("b", 0, ["modify"]);
    expect(placement(3).choose(fake("new", 0, ["gate"], { status: "loading" }))).toBe(1);
  });

  it("goes to the emptiest lane if it shares none, or observes only", () => {
    fake("a", 0, ["gate", "seen", "judged"]);
    expect(placement(2).choose(fake("new", 0, ["modify"], { status: "loading" }))).toBe(1);
    plugins.pop();
    expect(placement(2).choose(fake("new", 0, ["seen", "judged"], { status: "loading" }))).toBe(1);
  });

  it("starts in the first lane if nothing is known of its hooks", () => {
    fake("a", 0, ["gate"]);
    expect(placement(2).choose(fake("new", 1, undefined, { status: "loading" }))).toBe(0);
  });

  it("goes where it is pinned", () => {
    fake("a", 0, ["gate"]);
    expect(placement(2).choose(fake("new", 0, ["gate"], { status: "loading", pinnedLane: 1 }))).toBe(1);
  });
});

describe("rebalancing", () => {
  it("joins a split group where most of it lives, and moves no pinned, slow or lazy plugin", async () => {
    fake("a", 1, ["gate"]);
    fake("b", 1, ["gate"]);
    fake("c", 0, ["gate", "modify"]);
    fake("d", 0, ["other"]);
    fake("pinned", 0, ["gate"], { pinnedLane: 0 });
    fake("slow", 0, ["gate"], { slowWhy: "it took long" });
    fake("lazy", 0, ["gate"], { status: "asleep" });
    await placement(2).rebalance();
    expect(moves).toEqual(["c to 1"]);
  });

  it("at the start, whole groups fill the lanes that are empty; chains first", async () => {
    fake("a", 0, ["gate"]);
    fake("observes", 0, ["seen"]);
    fake("b", 0, ["modify"]);
    fake("c", 0, ["modify"]);
    await placement(2).spread();
    expect(moves).toEqual(["b to 1", "c to 1"]);
  });
});
