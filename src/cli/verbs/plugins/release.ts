/** `creel release`: lets a plugin out of quarantine, in a host that runs. */
import { only } from "../../plugins/options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const release = defineVerb({
  name: "release",
  summary: "releases a plugin from quarantine in a host that creel serve runs, and resets its failure counts",
  takes: "<id>",
  options: { socket: { type: "string", value: "path", help: "the socket of creel serve (default: the one of the state folder here)" } },
  examples: ["creel release weather", "creel release weather --json | jq .circuit.state"],
  prints: "the plugin's report: `id`, `status`, `error`, its `circuit`, and the rest that `host.inspect` gives",
  exits: { ok: "it is out of quarantine", failed: "it is not installed, it does not load, or no host answers" },
  async run({ values, positionals, isJson, out, err }) {
    const id = only("release", "one plugin, by its id", positionals, "creel release weather");
    const { openHost } = await import("../../../sdk/open-host.ts");
    const { socketOf } = await import("../../serve-socket.ts");
    const { failure } = await import("../../call/page.ts");
    const { printableJson } = await import("../../ui/text.ts");
    await using host = await openHost({ connect: await socketOf(values) });
    const before = host.plugins().find((plugin) => plugin.id === id)?.circuit.state;
    const report = await host.release(id);
    if (isJson) out.line(printableJson(report, 2));
    else if (report.error) failure(report, err);
    else if (before === "closed") out.line(`${out.paint("bold", id)} was not in quarantine; its failure counts were reset`);
    else out.line(`${out.paint("green", "✓")} ${id} is out of quarantine`);
    return report.error ? EXIT.failed : EXIT.ok;
  },
});
