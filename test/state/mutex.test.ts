/**
 * One process at a time changes the state folder. The message for those that wait names the owner, and none waits for a
 * dead process.
 */
import { existsSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { exclusively } from "../../src/state/mutex.ts";
import { openState } from "../../src/state/state.ts";
import { collectGarbage } from "../../src/sandbox/lane/cell/garbage.ts";
import { folder, QUICK } from "../support/files.ts";
import { Child } from "./child.ts";

const nothing = async () => {};

describe("the mutex of a state folder", () => {
  it("lets one in at a time, in one process too, and does not mind how the work ends", async () => {
    const dir = folder({}, QUICK);
    let inside = 0;
    let most = 0;
    const work = (number: number) =>
      exclusively(dir, {}, async () => {
        most = Math.max(most, ++inside);
        await setImmediate();
        inside -= 1;
        if (number % 3 === 0) throw new Error("failed");
        return number;
      });
    const results = await Promise.allSettled(Array.from({ length: 12 }, (_, number) => work(number)));
    expect(results.map(({ status }) => status)).toEqual(results.map((_, number) => (number % 3 === 0 ? "rejected" : "fulfilled")));
    expect(most).toBe(1);
    expect(existsSync(join(dir, "mutex.json"))).toBe(false);
  });

  it("times out for those that wait, with a message that names the other process and what it does", async () => {
    const { dir } = openState(join(folder({}, QUICK), "state"));
    const child = new Child().order({ kind: "hold", dir });
    await child.said(1);
    const waiting = exclusively(dir, { waitMs: 50 }, nothing);
    await expect(waiting).rejects.toMatchObject({ code: "ERR_STATE_BUSY" });
    await expect(waiting).rejects.toThrow(
      new RegExp(
        `^timed out after 50 ms waiting for process ${child.pid} \\(creel install slow-plugin, since 2\\d{3}-.*Z\\) to release the lock on ${dir}$`,
      ),
    );
    // Readers do not wait.
    expect(await openState(dir).read()).toEqual(new Map());
    // A killed process releases the mutex without any check by others.
    const next = exclusively(dir, { waitMs: 30_000 }, async () => "in");
    child.kill();
    expect(await next).toBe("in");
  });

  it("requested again inside its own work times out with an error", async () => {
    const dir = folder({}, QUICK);
    const nested = exclusively(dir, { what: "the outer work" }, () => exclusively(dir, { waitMs: 20 }, nothing));
    await expect(nested).rejects.toThrow(`process ${process.pid} (the outer work`);
    await expect(exclusively(dir, { waitMs: 20 }, async () => "free again")).resolves.toBe("free again");
  });

  it("is held as long as the work lasts, even if the work is unreachable", async () => {
    const dir = folder({}, QUICK);
    const entered = Promise.withResolvers<void>();
    void exclusively(dir, {}, () => {
      entered.resolve();
      return new Promise(() => {});
    });
    await entered.promise;
    for (let round = 0; round < 3; round++) {
      await setImmediate();
      collectGarbage();
    }
    await expect(exclusively(dir, { waitMs: 20 }, nothing)).rejects.toMatchObject({ code: "ERR_STATE_BUSY" });
  });

  it("does not name a process that is gone, or repeat what is no name", async () => {
    const dir = folder({}, QUICK);
    for (const text of ["", "{", '{"pid":1}', JSON.stringify({ pid: 2 ** 22 + 1, host: hostname(), what: "x", since: "y" })]) {
      const blocked = exclusively(dir, {}, async () => {
        writeFileSync(join(dir, "mutex.json"), text);
        await exclusively(dir, { waitMs: 5 }, nothing);
      });
      await expect(blocked).rejects.toThrow("waiting for another process to release the lock");
    }
  });

  it("is a file that nothing is ever written to", async () => {
    const dir = folder({}, QUICK);
    await exclusively(dir, {}, nothing);
    expect(statSync(join(dir, "mutex.db")).size).toBe(0);
  });
});
