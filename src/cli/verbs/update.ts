/** `creel update`: looks for newer versions of what is installed. What asks for no more than before is taken; what asks for more asks. */
import { CONSENT, PLACE } from "../plugins/options.ts";
import { UsageError } from "../options.ts";
import { defineVerb, EXIT } from "../verb.ts";

export const update = defineVerb({
  name: "update",
  summary: "brings installed plugins up to date; one that asks for more than before is only taken if you accept",
  takes: "[id]",
  options: { ...CONSENT, ...PLACE },
  examples: ["creel update", "creel update weather", "creel update weather --accept sha256-…", "creel update --json | jq '.[].outcome'"],
  prints:
    "a list with a row per plugin: `id`, `outcome`, `from`, `to`, `digest`, `review`, `error`, `fix`, and `running` if a `creel serve` has that state folder",
  exits: { ok: "all are up to date", failed: "one was refused, or failed; it is as it was" },
  async run({ values, positionals, isJson, out, err }) {
    const [wanted, extra] = positionals;
    if (extra !== undefined) throw new UsageError("update takes one plugin, or none for all", 'such as "creel update weather"');
    const { findPlace } = await import("../plugins/place.ts");
    const { updateAll } = await import("../plugins/update.ts");
    const { consentOf } = await import("../plugins/consent.ts");
    const place = await findPlace(values);
    const results = await updateAll(place, wanted, consentOf(values, isJson, wanted === undefined), isJson ? err : out, isJson);
    if (isJson) out.line(JSON.stringify(results, (_, value: unknown) => value ?? null, 2));
    else if (results.length === 0) out.line("no plugin is installed");
    for (const { id, outcome, error, fix, digest } of results) {
      if (outcome === "failed")
        err.line(`${err.paint("red", "✗")} ${id} was not updated: ${error}\n  ${err.paint("bold", "what to do:")} ${fix}`);
      if (outcome === "refused")
        err.line(
          `${err.paint("red", "✗")} ${id} was not updated: it asks for more than before, and nobody has accepted that\n  ${err.paint("bold", "what to do:")} if you accept what is shown, run "creel update ${id} --accept ${digest}"`,
        );
    }
    return results.every(({ outcome }) => outcome === "installed" || outcome === "unchanged") ? EXIT.ok : EXIT.failed;
  },
});
