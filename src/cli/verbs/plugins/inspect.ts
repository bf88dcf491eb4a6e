/**
 * `creel inspect`: one installed plugin, from the lock and the store, and how it is in the hosts that run with that state folder. Compares
 * its files with the lock; runs none of its code. One that is not installed is described by a host that runs.
 */
import { only, PROJECT_OPTIONS } from "../../plugins/options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const inspect = defineVerb({
  name: "inspect",
  summary:
    "shows one plugin: its source, who accepted it, its hooks and permissions, whether its files are intact, and why it is in its lane; of a plugin that is not installed, what the running host reports",
  takes: "<id>",
  options: PROJECT_OPTIONS,
  examples: ["creel inspect weather", "creel inspect weather --json | jq .entry.accepted"],
  prints:
    "the lock's `entry`, `permissions` as keys, `isRequired`, its `hooks` with what a failure of each means, the `review` it was accepted with, and `fault`, which is null if its files are intact, and `running`: its `status`, `lane` and `lanePlacement` (why it is in that lane) in each host that `creel serve` runs with this state folder; of a plugin that is not installed, `entry` is null and `running` has the whole report of each host as `plugin`, and `stats`",
  exits: { ok: "it is installed and intact", failed: "it is neither installed nor in a host that runs, or its files were changed" },
  async run({ values, positionals, isJson, out }) {
    const id = only("inspect", "one plugin, by its id", positionals, "creel inspect weather");
    const { printableJson } = await import("../../ui/text.ts");
    const { findProject } = await import("../../plugins/project.ts");
    const { findInstalled } = await import("../../plugins/installed-plugin.ts");
    const { entryPage } = await import("../../plugins/entry-page.ts");
    const { inspectRunning } = await import("../../plugins/running-hosts.ts");
    const project = await findProject(values);
    if (!(await project.state.read()).has(id)) {
      // One that creel.json names, or its gateway: only a host that runs knows it.
      const { inspectInHosts } = await import("../../../serve/running-hosts.ts");
      const hosts = (await inspectInHosts(project.state.dir, id)).filter(({ plugin }) => plugin);
      if (hosts.length > 0) {
        const { runningPage } = await import("../../plugins/running-page.ts");
        if (isJson) out.line(printableJson({ entry: null, running: hosts }, 2));
        else runningPage(id, hosts, out);
        return EXIT.ok;
      }
    }
    const found = await findInstalled(project, id);
    const running = await inspectRunning(project.state.dir, id);
    if (isJson) out.line(JSON.stringify({ ...found, running: running.rows }, (_, value: unknown) => value ?? null, 2));
    else {
      entryPage(found, out);
      running.say(out);
    }
    return found.fault === undefined ? EXIT.ok : EXIT.failed;
  },
});
