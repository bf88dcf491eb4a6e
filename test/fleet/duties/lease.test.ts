/** Who serves: never two hosts at a time, on a network that answers late and then not at all. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Bucket, BucketEntry } from "../../../src/fleet/bus.ts";
import { Lease } from "../../../src/fleet/duties/lease.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";

/** One entry, and how each host reaches it. */
class Entry {
  #found: BucketEntry | undefined;

  /** `wait`: before the server has a request, and before its answer is there. */
  reachedBy(wait: () => Promise<void>): Bucket {
    return {
      get: async () => (await wait(), this.#found),
      put: async (_, bytes, after) => {
        await wait();
        if ((this.#found?.revision ?? 0) !== after) return undefined;
        this.#found = { bytes, revision: after + 1 };
        return after + 1;
      },
      replicas: async () => 1,
    };
  }
}

const serve = (bucket: Bucket, holder: string, said: string[]) => {
  const lease = new Lease({ bucket: async () => bucket, key: "k", holder, left: () => void said.push(`${holder} left`) });
  const end = lease.serve((isMine) => void said.push(`${holder} ${isMine}`));
  return { lease, end };
};

it(
  "a host whose question was long on its way waits from the answer on, so the holder has given up by then",
  { timeout: 60_000 },
  async () => {
    const entry = new Entry();
    const said: string[] = [];
    let isCut = false;
    const first = serve(
      entry.reachedBy(() => (isCut ? new Promise(() => {}) : Promise.resolve())),
      "one",
      said,
    );
    await expect.poll(() => said).toEqual(["one true"]);
    // Almost as long as a lease lasts: the holder writes again and again meanwhile, and then it is cut off.
    let waits = 0;
    const second = serve(
      entry.reachedBy(() => sleep(waits++ === 0 ? LIMITS.fleet.leaseMs - 300 : 0)),
      "two",
      said,
    );
    await sleep(LIMITS.fleet.leaseMs - 400);
    isCut = true;
    await expect.poll(() => said, { timeout: 3 * LIMITS.fleet.leaseMs, interval: 20 }).toEqual(["one true", "one false", "two true"]);
    first.end();
    second.end();
    await second.lease.close();
  },
);

it("a plugin that is loaded again keeps its lease; one that is gone gives it back, and another host has it within a second", async () => {
  const entry = new Entry();
  const said: string[] = [];
  const direct = entry.reachedBy(() => Promise.resolve());
  const first = serve(direct, "one", said);
  await expect.poll(() => said).toEqual(["one true"]);
  first.end();
  const end = first.lease.serve((isMine) => void said.push(`again ${isMine}`));
  expect(said).toEqual(["one true", "again true"]);
  const second = serve(direct, "two", said);
  await sleep(1_500);
  expect(said).toEqual(["one true", "again true"]);
  end();
  await expect.poll(() => said, { timeout: 5_000 }).toEqual(["one true", "again true", "one left", "two true"]);
  await second.lease.close();
});
