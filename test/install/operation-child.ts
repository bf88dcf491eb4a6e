/** A process that installs and uninstalls, one order after the other, until it is killed, by its parent or by itself. It says every step it begins. */
import { writeSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { createInterface } from "node:readline";
import { install, usualPermissionKeys } from "../../src/install/install.ts";
import { openState } from "../../src/state/state.ts";
import { GUARD } from "./operations.ts";
import type { Operation } from "./operations.ts";

export interface Order extends Operation {
  readonly dir: string;
  /** What is typed after `creel install`. */
  readonly source: string;
  /** For npm. */
  readonly env: Readonly<Record<string, string>>;
}

const say = (text: string) => writeSync(1, `${text}\n`);

async function obey({ dir, id, version, isolation, endsAt, source, env }: Order): Promise<void> {
  const state = openState(dir, { retiredMs: 0 });
  if (version === undefined) return state.transaction((tx) => void tx.remove(id));
  const { outcome } = await install(source, {
    state,
    config: { sandbox: { walls: "none" } },
    base: dir,
    isolation,
    env,
    by: "a test",
    watchMs: 0,
    progress: ({ step }) => {
      say(`step ${step}`);
      if (step === endsAt) process.kill(process.pid, "SIGKILL");
    },
    decide: async (review) => ({
      isAccepted: true,
      keys: new Set([...usualPermissionKeys(review, undefined), ...(id === GUARD ? ["install"] : [])]),
    }),
  });
  if (outcome !== "installed") throw new Error(`the outcome is "${outcome}"`);
}

// Whoever is killed does not get to it.
flushCompileCache();
say("ready");

for await (const line of createInterface({ input: process.stdin })) {
  await obey(JSON.parse(line) as Order);
  say("done");
}
