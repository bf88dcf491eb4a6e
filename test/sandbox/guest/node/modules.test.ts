import { describe, expect, test } from "vitest";
import { oracle } from "./oracle.ts";
import { KNOWN, TABLES } from "./tables.ts";
import type { Module } from "./tables.ts";

const cells = oracle("thread", TABLES);

describe("Node's modules inside a cell", () => {
  test.each(Object.keys(TABLES) as Module[])("%s answers as in Node", async (name) => {
    expect(await cells.differences(name, KNOWN[name])).toEqual(Object.keys(KNOWN[name] ?? {}));
  });
});
