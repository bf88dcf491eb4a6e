/** A host gets an installed plugin as the bundle that was installed. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bundleFile } from "../../src/bundler/bundle.ts";
import { findPlugin } from "../../src/discovery/manifest.ts";
import { bundleFiles, bundleOf } from "../../src/state/bundle-files.ts";
import { openState } from "../../src/state/state.ts";
import { folder, QUICK } from "../support/files.ts";
import { factsOf, filesOf } from "./state-world.ts";

describe("a bundle", () => {
  it("comes back from the store as it was, with its files and what is known of it, and its digest is in the lock", async () => {
    const root = folder({
      "creel.plugin.json": JSON.stringify({ id: "reader", version: "1.2.3" }),
      "index.ts":
        'import { readFileSync } from "node:fs";\nexport default () => { readFileSync(new URL("words.txt", import.meta.url), "utf8"); };',
      "words.txt": "wörds",
    });
    const { entry, manifest } = await findPlugin(root);
    const bundle = await bundleFile(root, entry, undefined, { ownsRoot: true });
    expect(bundle).toMatchObject({ readsFiles: true, builtins: [{ name: "fs" }], own: expect.stringContaining("words.txt") as string });
    const state = openState(join(folder({}, QUICK), "state"));
    const { bundle: locked } = await state.transaction((tx) => tx.put(factsOf("reader"), bundleFiles(bundle, manifest)));
    expect(locked).toMatchObject({ integrity: bundle.digest, bytes: bundle.bytes });
    const loaded = await state.load("reader");
    expect(bundleOf(loaded)).toEqual(bundle);
    expect(loaded.manifest).toEqual(manifest);
  });

  it("of another version of Creel is refused, and the message names the file", async () => {
    const state = openState(join(folder({}, QUICK), "state"));
    await state.transaction((tx) => tx.put(factsOf("a"), filesOf("a")));
    const loaded = await state.load("a");
    expect(() => bundleOf(loaded)).toThrow(
      `Creel did not load the plugin "a": ${join(loaded.folder, "bundle.json")} was written by another version of Creel`,
    );
  });
});
