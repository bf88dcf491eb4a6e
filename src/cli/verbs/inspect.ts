/** `creel inspect`: one installed plugin, from the lock and the store. Its files are compared with the lock; nothing of it runs. */
import { only, PLACE } from "../plugins/options.ts";
import { defineVerb, EXIT } from "../verb.ts";

export const inspect = defineVerb({
  name: "inspect",
  summary: "shows one installed plugin: where it is from, who accepted what, its hooks and permissions, and whether its files are intact",
  takes: "<id>",
  options: PLACE,
  examples: ["creel inspect weather", "creel inspect weather --json | jq .entry.accepted"],
  prints:
    "the lock's `entry`, `permissions` as keys, the `review` it was accepted with, and `fault`, which is null if its files are intact",
  exits: { ok: "it is installed and intact", failed: "it is not installed, or its files were changed" },
  async run({ values, positionals, isJson, out }) {
    const id = only("inspect", "one plugin, by its id", positionals, "creel inspect weather");
    const { findPlace } = await import("../plugins/place.ts");
    const { lookUp } = await import("../plugins/look-up.ts");
    const { entryPage } = await import("../plugins/entry-page.ts");
    const found = await lookUp(await findPlace(values), id);
    if (isJson) out.line(JSON.stringify(found, (_, value: unknown) => value ?? null, 2));
    else entryPage(found, out);
    return found.fault === undefined ? EXIT.ok : EXIT.failed;
  },
});
