/**
 * A process that changes a state folder until it is killed, by its parent or by itself. It waits for one line of JSON,
 * so that it can start ahead of time, and prints what it has done.
 */
import fs from "node:fs";
import { flushCompileCache, syncBuiltinESMExports } from "node:module";
import { createInterface } from "node:readline";
import { openState } from "../../src/state/state.ts";
import type { State } from "../../src/state/state.ts";
import { apply, STEPPED } from "./state-ops.ts";
import { factsOf, filesOf } from "./state-world.ts";

export type Order =
  /** Change after change, from this number on. */
  | { readonly kind: "random"; readonly dir: string; readonly seed: number; readonly from: number }
  /** One change that ends before the file operation of that number; a file being written then is written by half. */
  | { readonly kind: "step"; readonly dir: string; readonly at: number }
  /** This many changes, each of which increments a shared number. */
  | { readonly kind: "count"; readonly dir: string; readonly own: string; readonly times: number }
  /** Takes the mutex and keeps it. */
  | { readonly kind: "hold"; readonly dir: string }
  /** Opens a workspace, prints where, and keeps it. */
  | { readonly kind: "work"; readonly dir: string };

const say = (text: string) => fs.writeSync(1, `${text}\n`);

async function random(state: State, seed: number, from: number): Promise<never> {
  for (let number = from; ; number++) {
    await state.transaction((tx) => apply(tx, seed, number));
    say(String(number));
  }
}

/** Every operation that changes something before the end. */
function endAt(at: number): void {
  let done = 0;
  const step = (meanwhile?: () => void): void => {
    if (++done !== at) return;
    meanwhile?.();
    process.kill(process.pid, "SIGKILL");
  };
  const { mkdirSync, openSync, renameSync, rmSync, writeFileSync, writeSync } = fs;
  const stepped = <F extends (...args: any[]) => unknown>(real: F): F =>
    ((...args: unknown[]) => {
      step();
      return real(...args);
    }) as F;
  fs.mkdirSync = stepped(mkdirSync);
  fs.renameSync = stepped(renameSync);
  fs.rmSync = stepped(rmSync);
  fs.openSync = (path, flags, mode) => {
    if (flags !== "r") step();
    return openSync(path, flags, mode);
  };
  fs.writeFileSync = (to, content, options) => {
    const bytes = Buffer.from(content as string);
    step(() => typeof to === "number" && writeSync(to, bytes.subarray(0, bytes.length / 2)));
    writeFileSync(to, content, options);
  };
  syncBuiltinESMExports();
}

async function count(state: State, own: string, times: number): Promise<void> {
  for (let n = 1; n <= times; n++) {
    await state.transaction(async (tx) => {
      const { accepted } = tx.get("shared")!;
      await tx.put(factsOf(own, n), filesOf(own, n));
      tx.update("shared", { accepted: { ...accepted, by: String(Number(accepted.by) + 1) } });
    });
  }
}

const forever = () => new Promise<never>(() => setInterval(() => {}, 1_000));

async function obey(order: Order): Promise<void> {
  const state = openState(order.dir, { retiredMs: 0 });
  if (order.kind === "random") return random(state, order.seed, order.from);
  if (order.kind === "count") return count(state, order.own, order.times);
  if (order.kind === "step") {
    return state.transaction((tx) => {
      endAt(order.at);
      return STEPPED(tx);
    });
  }
  if (order.kind === "work") {
    using workspace = await state.workspace();
    fs.writeFileSync(`${workspace.path}/fetched`, "x");
    say(workspace.path);
    return await forever();
  }
  return state.transaction(
    () => {
      say("holding");
      return forever();
    },
    { what: "creel install slow-plugin" },
  );
}

// A process that was killed does not get here.
flushCompileCache();

for await (const line of createInterface({ input: process.stdin })) {
  await obey(JSON.parse(line) as Order);
  say("finished");
  process.exit();
}
