/** `creel uninstall`: removes a plugin from the lock; with `--purge`, its stored data, too. */
import { only, PROJECT_OPTIONS } from "../../plugins/options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const uninstall = defineVerb({
  name: "uninstall",
  summary: "removes an installed plugin and its grants; keeps the data it stored, unless --purge is given",
  takes: "<id>",
  options: {
    purge: { type: "boolean", help: "also deletes what the plugin stored: its key-value store, files and jobs" },
    ...PROJECT_OPTIONS,
  },
  examples: ["creel uninstall weather", "creel uninstall weather --purge", "creel uninstall weather --json | jq .id"],
  prints:
    "`id`, `version`, and `isInstalled`, which is false; `purged` with --purge: the deleted `files` and the number of `jobs`; `running`, if a `creel serve` has that state folder: a row per host, with `pid`, `socket`, `status`, `version`, `error`",
  async run({ values, positionals, isJson, out }) {
    const id = only("uninstall", "one plugin, by its id", positionals, "creel uninstall weather");
    const { findProject } = await import("../../plugins/project.ts");
    const { state } = await findProject(values);
    const { purge, storedOf } = await import("../../plugins/purge.ts");
    const { inspectInHosts } = await import("../../../serve/running-hosts.ts");
    // One that was uninstalled before may still have its data. One that creel.json names is not installed either, and lives.
    const isLeft =
      values.purge === true &&
      !(await state.read()).has(id) &&
      storedOf(state.dir, id) !== undefined &&
      !(await inspectInHosts(state.dir, id)).some(({ plugin, error }) => plugin ?? error);
    const { version } = isLeft ? {} : await state.transaction((tx) => tx.remove(id), { what: `creel uninstall ${id}` });
    const { tellRunning } = await import("../../plugins/running-hosts.ts");
    const running = await tellRunning(state.dir, id);
    // After running hosts have let go of it.
    const purged = values.purge === true ? purge(state.dir, id) : undefined;
    if (isJson)
      out.line(
        JSON.stringify(
          { id, version: version ?? null, isInstalled: false, ...(purged && { purged }), ...(running && { running: running.rows }) },
          undefined,
          2,
        ),
      );
    else if (purged) out.line(`${out.paint("bold", id)} was uninstalled${isLeft ? " before" : ""}, and its stored data was deleted`);
    else if (storedOf(state.dir, id) === undefined) out.line(`${out.paint("bold", id)} was uninstalled; it has stored nothing`);
    else out.line(`${out.paint("bold", id)} was uninstalled; its stored data is still in ${state.dir} (--purge deletes it)`);
    if (!isJson) running?.say(out);
    return EXIT.ok;
  },
});
