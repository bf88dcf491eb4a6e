/** Installs for tests: a state folder of its own, and an operator who answers as told. */
import { join } from "node:path";
import { install, usualPermissionKeys } from "../../src/install/install.ts";
import type { InstallOptions, InstallResult, InstallStep } from "../../src/install/install.ts";
import type { Review } from "../../src/install/review/review.ts";
import { openState } from "../../src/state/state.ts";
import type { State } from "../../src/state/state.ts";
import { folder, QUICK } from "../support/files.ts";

export interface Operator {
  readonly state: State;
  readonly steps: InstallStep[];
  /** `answer`: the keys that are granted; without one, what is asked for; false: a refusal. */
  readonly install: (source: string, answer?: readonly string[] | false, more?: Partial<InstallOptions>) => Promise<InstallResult>;
}

export function operator(dir = join(folder({}, QUICK), "state")): Operator {
  const state = openState(dir);
  const steps: InstallStep[] = [];
  return {
    state,
    steps,
    async install(source, answer, more = {}) {
      const before = (keys: Review) => state.read().then((entries) => usualPermissionKeys(keys, entries.get(keys.id)));
      return install(source, {
        state,
        config: { sandbox: { walls: "none" } },
        base: dir,
        isolation: "thread",
        by: "a test",
        watchMs: 0,
        progress: (step) => void steps.push(step),
        decide: async (review) =>
          answer === false ? { isAccepted: false } : { isAccepted: true, keys: answer ? new Set(answer) : await before(review) },
        ...more,
      });
    },
  };
}

export function pluginFolder(
  manifest: { id: string } & Record<string, unknown>,
  source: string,
  more: Readonly<Record<string, string>> = {},
): string {
  return folder({ "creel.plugin.json": JSON.stringify({ version: "1.0.0", ...manifest }), "index.ts": source, ...more }, QUICK);
}

/** A plugin that listens to these and does nothing. */
export function listener(...hooks: string[]): string {
  return `export default (api) => { ${hooks.map((hook) => `api.on("${hook}", () => {});`).join(" ")} };`;
}
