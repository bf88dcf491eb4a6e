/** `creel doctor`: which layers of the sandbox are on here, which are not and why, and what can be done about it. */
import { defineVerb, EXIT } from "../verb.ts";

export const doctor = defineVerb({
  name: "doctor",
  summary: "says which walls stand around the sandbox on this machine, which do not, and what to do about it",
  options: {
    config: { type: "string", value: "path", help: "the creel.json whose sandbox section counts (default: none)" },
  },
  examples: ["creel doctor", "creel doctor --config creel.json", "creel doctor --json | jq '.layers[] | select(.isOn | not) | .why'"],
  prints: "each layer with `isOn`, `by` or `why` and `fix`, whether a plugin answered, and `isSound`",
  exits: { ok: "what matters most is on", failed: "it is not" },
  async run({ values, isJson, out }) {
    const { examine } = await import("../doctor/examine.ts");
    const { page } = await import("../doctor/page.ts");
    const findings = await examine(values.config);
    if (isJson) out.line(JSON.stringify(findings, undefined, 2));
    else page(findings, out);
    return findings.isSound ? EXIT.ok : EXIT.failed;
  },
});
