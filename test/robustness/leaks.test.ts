/**
 * Hosts that were opened and closed leave no thread, process, descriptor, socket or file behind, and memory stays flat.
 * `CREEL_CYCLES` says how many; 20 per isolation by default, 1,000 once in a while.
 */
import { spawn } from "node:child_process";
import { channel } from "node:diagnostics_channel";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { actor } from "../support/actors.ts";
import { folder } from "../support/files.ts";
import { contract, ISOLATIONS, open } from "../support/host.ts";
import type { Sample } from "./fixtures/cycles.ts";

const CYCLES = Number(process.env.CREEL_CYCLES ?? 20);
const SCRIPT = fileURLToPath(new URL("fixtures/cycles.ts", import.meta.url));

describe.each(ISOLATIONS)(`${CYCLES} hosts, opened and closed, %s isolation`, (isolation) => {
  it(
    "leave nothing behind, and memory stays flat",
    async ({ annotate }) => {
      const samples: Sample[] = [];
      const gateway = spawn(process.execPath, ["-C", "source", "--expose-gc", SCRIPT, isolation, String(CYCLES)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      createInterface({ input: gateway.stdout }).on("line", (line) => samples.push(JSON.parse(line) as Sample));
      // It ends by itself: nothing that it opened keeps it alive.
      const [code] = (await once(gateway, "close")) as [number];
      expect(code).toBe(0);
      expect(samples).toHaveLength(CYCLES);

      const early = samples.slice(Math.floor(CYCLES / 5), Math.floor((2 * CYCLES) / 5));
      const late = samples.slice(Math.floor((4 * CYCLES) / 5));
      const compare = (value: (sample: Sample) => number): [number, number] => [median(early.map(value)), median(late.map(value))];
      const rss = compare(({ rssMb }) => rssMb);
      const heap = compare(({ heapMb }) => heapMb);
      await annotate(
        `${CYCLES} cycles, ${isolation}: rss ${show(rss)} MB, heap ${show(heap)} MB, threads ${show(compare(({ threads }) => threads))}, descriptors ${show(compare(({ descriptors }) => descriptors))}`,
      );
      for (const [before, after] of [compare(({ threads }) => threads), compare(({ descriptors }) => descriptors)])
        expect(after).toBeLessThanOrEqual(before);
      expect(new Set(samples.map(({ children }) => children))).toEqual(new Set([0]));
      expect(samples.at(-1)?.resources.filter((resource) => /Worker|Socket|Process|Message|Pipe(?!Wrap)|TCP|FSReq/.test(resource))).toEqual(
        [],
      );
      expect(heap[1] - heap[0]).toBeLessThan(3);
      // Memory grows in steps of up to 30 MB, three in 120 cycles, and then stays. A host that is left behind takes 5 MB or more each time.
      expect(rss[1] - rss[0]).toBeLessThan(Math.max(40, rss[0] * 0.15));
    },
    60_000 + CYCLES * 2_000,
  );
});

contract("leftovers", (isolation) => {
  it("no file of a closed host is left in the temporary folder", async () => {
    // A temporary folder of its own: other tests, and other people, use the common one.
    const temporary = folder({});
    vi.stubEnv("TMPDIR", temporary);
    const hosts = await Promise.all([1, 2, 3].map((lanes) => open(isolation, { lanes, plugins: [actor("a"), actor("b"), actor("c")] })));
    vi.unstubAllEnvs();
    await Promise.all(hosts.map((host) => host.close()));
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("a host that could not be opened leaves no subscription behind", async () => {
    await expect(open(isolation, { plugins: [actor("a"), actor("a")] })).rejects.toThrow("two plugins");
    expect(["log", "plugin", "replaced", "restart"].filter((name) => channel(`creel:${name}`).hasSubscribers)).toEqual([]);
  });

  it("a closed host leaves no subscription behind, its listeners' included", async () => {
    const host = await open(isolation, { plugins: [actor("a")] });
    host.on("call", () => {});
    host.on("run", () => {});
    await host.close();
    expect(["call", "run", "log", "plugin", "replaced", "restart"].filter((name) => channel(`creel:${name}`).hasSubscribers)).toEqual([]);
  });
});

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function show([before, after]: [number, number]): string {
  return `${before.toFixed(1)} → ${after.toFixed(1)}`;
}
