/** The sandbox process gets nothing of the gateway's: no environment, no descriptors but its own pipes. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { actor, ask } from "../support/actors.ts";
import { contract, open, sharedHost } from "../support/host.ts";

const SECRET = "s3cr3t-of-the-gateway";

beforeAll(() => {
  process.env.CREEL_TEST_SECRET = SECRET;
});
afterAll(() => {
  delete process.env.CREEL_TEST_SECRET;
});

const shared = sharedHost("process", { lanes: 2, plugins: [actor("a"), actor("b")] });

it("has an empty environment", () => {
  const [pid] = shared.host.pids();
  expect(readFileSync(`/proc/${pid}/environ`, "utf8")).toBe("");
});

it("does not have the secret in its command line", () => {
  const [pid] = shared.host.pids();
  expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).not.toContain(SECRET);
});

it("holds no file and no network socket that the gateway opened", () => {
  const [pid] = shared.host.pids();
  const held = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return [];
    }
  });
  expect(
    held.filter((target) => !/^(?:socket|pipe|anon_inode):|^\/dev\/(?:null|urandom)|\.node$|^\/proc|\(deleted\)$/.test(target)),
  ).toEqual([]);
});

it("does not have the gateway's environment in the memory of its start either", () => {
  const [pid] = shared.host.pids();
  expect(readFileSync(`/proc/${pid}/auxv`).includes(SECRET)).toBe(false);
});

contract("the environment", (isolation) => {
  it("is not visible to a plugin", async () => {
    await using host = await open(isolation, { plugins: [actor("a")] });
    expect(await ask(host, "a", "[typeof process, typeof globalThis.process, typeof Deno]")).toEqual([
      "undefined",
      "undefined",
      "undefined",
    ]);
  });
});
