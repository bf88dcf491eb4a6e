/** `creel doctor`: which layers of the sandbox are on here, whether all that Creel stands on is sound, and what can be done about what is not. */
import { PLACE } from "../plugins/options.ts";
import { defineVerb, EXIT } from "../verb.ts";

export const doctor = defineVerb({
  name: "doctor",
  summary:
    "checks the walls around the sandbox, Node, isolated-vm, the configuration, the state folder and the socket, and says what to do",
  options: {
    ...PLACE,
    socket: { type: "string", value: "path", help: "the socket of creel serve (default: the one it has by default)" },
  },
  examples: [
    "creel doctor",
    "creel doctor --config creel.json",
    "creel doctor --json | jq '.layers[] | select(.isOn | not) | .why'",
    "creel doctor --json | jq '.checks[] | select(.status != \"ok\")'",
  ],
  prints:
    "each layer with `isOn`, `by` or `why` and `fix`, whether a plugin answered, `checks` with `area`, `status` (ok, warn, broken), `what`, `where` and `fix`, and `isSound`",
  exits: { ok: "what matters most is on, and nothing is broken", failed: "something is missing or broken" },
  async run({ values, isJson, out }) {
    const { examine } = await import("../doctor/examine.ts");
    const { page } = await import("../doctor/page.ts");
    const findings = await examine(values);
    if (isJson) out.line(JSON.stringify(findings, undefined, 2));
    else page(findings, out);
    return findings.isSound ? EXIT.ok : EXIT.failed;
  },
});
