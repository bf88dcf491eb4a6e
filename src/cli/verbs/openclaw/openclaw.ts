/**
 * `creel openclaw`: moves the plugins of an OpenClaw gateway into the sandbox and back, and watches over those that
 * were moved.
 */
import { UsageError } from "../../options.ts";
import { CONSENT, PROJECT_OPTIONS } from "../../plugins/options.ts";
import { defineVerb } from "../../verb.ts";

const ACTIONS = ["plan", "move", "back", "release", "status", "policy", "doctor"] as const;
const FIX = 'such as "creel openclaw plan" or "creel openclaw move guard"';

export const openclaw = defineVerb({
  name: "openclaw",
  summary: "moves the plugins of an OpenClaw gateway into the sandbox, and back",
  takes: "plan|move|back|release|status|policy|doctor [id or source …]",
  options: {
    all: { type: "boolean", help: "move, back: every plugin that can be" },
    "dry-run": { type: "boolean", help: "move, back: says what would be done, and does nothing" },
    openclaw: { type: "string", value: "path", help: "OpenClaw's command (default: OPENCLAW_BIN, then openclaw on the PATH)" },
    ...CONSENT,
    ...PROJECT_OPTIONS,
  },
  examples: [
    "creel openclaw plan",
    "creel openclaw move guard",
    "creel openclaw move --all --dry-run",
    "creel openclaw move ./my-plugin",
    "creel openclaw back guard",
    "creel openclaw release guard",
    "creel openclaw status --json",
    "creel openclaw doctor",
  ],
  prints:
    "plan, status and doctor: `plugins`, each with `id`, `version`, `state` (`native`, `sandboxed`), `drift`, and for plan `canMove`, `why`, `digest`, `permissions`, `lost`; move and back: `plugins`, each with `id` and `outcome`, and for move `digest`, `lost`; release: `plugins`, each with `id`, `status`, `circuit`, and `error` if it does not load; policy: what OpenClaw's `security.installPolicy` reads",
  exits: { ok: "done; doctor and status: nothing has drifted", failed: "something was not done, or has drifted" },
  asks: true,
  async run({ values, positionals, isJson, out, err }) {
    const [word, ...names] = positionals;
    const action = ACTIONS.find((one) => one === word);
    if (action === undefined) throw new UsageError(`openclaw takes ${ACTIONS.join(", ")}`, FIX);
    const { runAction } = await import("../../openclaw/actions.ts");
    return runAction(action, names, { values, isJson, out, err });
  },
});
