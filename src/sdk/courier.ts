/**
 * Trusted side: what a handler logs travels behind its answer. Whoever wants both sends a courier after it, a plugin of ours in the same
 * lane that does nothing: when it is back, all is there that was sent before it.
 */
import * as z from "zod";
import { defineHook } from "../protocol/catalog.ts";
import type { PluginSpec } from "./options.ts";

const BEHIND = "creel_courier";

const behind = defineHook({
  name: BEHIND,
  kind: "modify",
  summary: "Comes back when all is there that was sent before.",
  event: z.object({}),
  context: z.object({}),
  result: z.object({}),
  merge: {},
});

/** For `openHost`. A host with several lanes has use for one in each: there, one does not do. */
export const COURIER_HOOKS = { [BEHIND]: behind };
export const COURIER = {
  id: "creel-courier",
  source: `export default (api) => { api.on("${BEHIND}", () => {}); };`,
} as const satisfies PluginSpec;

/** Gives what the work gives, once its log lines are there. */
export async function accompanied<T>(host: { run(hook: typeof BEHIND, event: object): Promise<unknown> }, work: Promise<T>): Promise<T> {
  const done = await work;
  await host.run(BEHIND, {});
  return done;
}
