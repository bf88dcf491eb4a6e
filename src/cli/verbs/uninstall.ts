/** `creel uninstall`: takes a plugin out of the lock. What it has stored stays. */
import { only, PLACE } from "../plugins/options.ts";
import { defineVerb, EXIT } from "../verb.ts";

export const uninstall = defineVerb({
  name: "uninstall",
  summary: "removes an installed plugin, with all it was granted; what it has stored stays",
  takes: "<id>",
  options: PLACE,
  examples: ["creel uninstall weather", "creel uninstall weather --json | jq .id"],
  prints:
    "`id`, `version`, and `isInstalled`, which is false; `running`, if a `creel serve` has that state folder: a row per host, with `pid`, `socket`, `status`, `version`, `error`",
  async run({ values, positionals, isJson, out }) {
    const id = only("uninstall", "one plugin, by its id", positionals, "creel uninstall weather");
    const { findPlace } = await import("../plugins/place.ts");
    const { state } = await findPlace(values);
    const { version } = await state.transaction((tx) => tx.remove(id), { what: `creel uninstall ${id}` });
    const { tellRunning } = await import("../plugins/running.ts");
    const running = await tellRunning(state.dir, id);
    if (isJson)
      out.line(
        JSON.stringify({ id, version: version ?? null, isInstalled: false, ...(running && { running: running.rows }) }, undefined, 2),
      );
    else out.line(`${out.paint("bold", id)} is not installed any more; what it has stored is still in ${state.dir}`);
    if (!isJson) running?.say(out);
    return EXIT.ok;
  },
});
