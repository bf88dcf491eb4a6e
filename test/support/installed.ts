/** Plugins that are in a state folder as if they had been installed, without the installer's steps. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundleFile } from "../../src/bundler/bundle.ts";
import { findPlugin } from "../../src/discovery/manifest.ts";
import { bundleFiles } from "../../src/state/bundle-files.ts";
import type { PluginFacts } from "../../src/state/lock.ts";
import { openState } from "../../src/state/state.ts";
import { factsOf } from "../state/state-world.ts";
import { folder, QUICK } from "./files.ts";

/** Gives the folder with its files. */
export async function putInstalled(
  dir: string,
  id: string,
  source: string,
  more: Partial<PluginFacts> = {},
  key?: Uint8Array,
): Promise<string> {
  const root = folder({ "creel.plugin.json": JSON.stringify({ id, version: "1.0.0" }), "index.ts": source }, QUICK);
  const { entry, manifest } = await findPlugin(root);
  const bundle = await bundleFile(root, entry, undefined, { ownsRoot: true });
  const facts = { ...factsOf(id), hooks: [{ hook: "message_sending", priority: 0 }], grants: {}, permissions: {}, ...more };
  const { store } = await openState(dir, key && { key }).transaction((tx) => tx.put(facts, bundleFiles(bundle, manifest)));
  return join(dir, "store", store);
}

/** As somebody would who may write there. */
export function tamper(file: string, text: (before: string) => string): void {
  chmodSync(file, 0o644);
  writeFileSync(file, text(readFileSync(file, "utf8")));
}
