/** `creel demo`: the first screen. One turn of a gateway through the example plugins, then one that never returns. */
import { printableJson } from "../../ui/text.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const demo = defineVerb({
  name: "demo",
  summary: "plays one gateway turn through sandboxed plugins and shows what each decided and cost",
  options: {
    isolation: { type: "string", choices: ["process", "thread"], help: "where the plugins run (default: process)" },
    plugin: { type: "string", multiple: true, value: "path", help: "one of your own plugins, played in the same turn" },
  },
  examples: ["creel demo", "creel demo --plugin ./my-plugin.ts", "creel demo --json | jq '.turn.steps[] | select(.kind == \"hook\")'"],
  prints: "every step of both turns, with its outcome, log lines and costs",
  exits: { ok: "played", failed: "a plugin did not load" },
  async run({ values, isJson, out }) {
    const { play } = await import("../../demo/play.ts");
    const { timeline } = await import("../../demo/timeline.ts");
    const options = { isolation: values.isolation ?? "process", plugins: values.plugin ?? [] };
    const report = await play(options, isJson ? undefined : timeline(out));
    if (isJson) out.line(printableJson(report, 2));
    return report.isComplete ? EXIT.ok : EXIT.failed;
  },
});
