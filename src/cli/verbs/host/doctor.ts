/** `creel doctor`: which walls of the sandbox are on, whether the environment is intact, and how to fix what is not. */
import { PROJECT_OPTIONS } from "../../plugins/options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const doctor = defineVerb({
  name: "doctor",
  summary:
    "checks the walls of the sandbox, Node, isolated-vm, the configuration, the state folder and the socket, and says how to fix problems",
  options: {
    ...PROJECT_OPTIONS,
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
  exits: { ok: "all required walls are on, and nothing is broken", failed: "something is missing or broken" },
  async run({ values, isJson, out }) {
    const { examine } = await import("../../doctor/examine.ts");
    const { page } = await import("../../doctor/page.ts");
    const findings = await examine(values);
    if (isJson) out.line(JSON.stringify(findings, undefined, 2));
    else page(findings, out);
    return findings.isSound ? EXIT.ok : EXIT.failed;
  },
});
