/**
 * `creel inspect`: one installed plugin, from the lock and the store. Compares its files with the lock; runs none of
 * its code.
 */
import { only, PROJECT_OPTIONS } from "../../plugins/options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const inspect = defineVerb({
  name: "inspect",
  summary: "shows one installed plugin: its source, who accepted it, its hooks and permissions, and whether its files are intact",
  takes: "<id>",
  options: PROJECT_OPTIONS,
  examples: ["creel inspect weather", "creel inspect weather --json | jq .entry.accepted"],
  prints:
    "the lock's `entry`, `permissions` as keys, `isRequired`, its `hooks` with what a failure of each means, the `review` it was accepted with, and `fault`, which is null if its files are intact",
  exits: { ok: "it is installed and intact", failed: "it is not installed, or its files were changed" },
  async run({ values, positionals, isJson, out }) {
    const id = only("inspect", "one plugin, by its id", positionals, "creel inspect weather");
    const { findProject } = await import("../../plugins/project.ts");
    const { findInstalled } = await import("../../plugins/installed-plugin.ts");
    const { entryPage } = await import("../../plugins/entry-page.ts");
    const found = await findInstalled(await findProject(values), id);
    if (isJson) out.line(JSON.stringify(found, (_, value: unknown) => value ?? null, 2));
    else entryPage(found, out);
    return found.fault === undefined ? EXIT.ok : EXIT.failed;
  },
});
