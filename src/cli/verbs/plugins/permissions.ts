/** `creel permissions`: shows, compares and changes what an installed plugin may do. */
import { UsageError } from "../../options.ts";
import { MEANT, PROJECT_OPTIONS } from "../../plugins/options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

const FIX = 'such as "creel permissions show weather" or "creel permissions revoke weather kv"';
const ACTIONS = ["show", "diff", "suggest", "grant", "revoke"] as const;
type Action = (typeof ACTIONS)[number];

/** The arguments after the id. */
const MORE: Record<Action, { readonly words: string; readonly fits: (count: number) => boolean }> = {
  show: { words: "no keys", fits: (count) => count === 0 },
  diff: { words: "one version or source, or none", fits: (count) => count <= 1 },
  suggest: { words: "no keys", fits: (count) => count === 0 },
  grant: { words: "keys", fits: (count) => count > 0 },
  revoke: { words: "keys", fits: (count) => count > 0 },
};

export const permissions = defineVerb({
  name: "permissions",
  summary: "shows, compares, grants or revokes the permissions of an installed plugin, and suggests the narrowest set it needs",
  takes: "show|diff|suggest|grant|revoke <id> [key|source …]",
  options: { ...MEANT, ...PROJECT_OPTIONS },
  examples: [
    "creel permissions show weather",
    "creel permissions suggest weather",
    "creel permissions diff weather 2.0.0",
    "creel permissions grant weather fetch:https://api.example.com/v1#GET",
    "creel permissions grant weather env:REGION --unasked",
    "creel permissions revoke weather kv env:API_KEY",
    "creel permissions show weather --json | jq .permissions",
  ],
  prints:
    "`id`, the granted `permissions` as keys, what is `refused` of what it asked for, and `running` if a `creel serve` has that state folder and was told; diff: `id`, `source`, `from`, `to` and `changes`, each with `sign`, `what`, `text`; suggest: `id`, `since`, `until`, `calls`, `configGrants`, `isThin` and `suggestions`, each with `sign`, `key`, `words`, `why`, `command`",
  exits: { ok: "done", failed: "failed, or not granted: nothing was changed" },
  asks: true,
  async run({ values, positionals, isJson, out, err }) {
    const [word, id, ...rest] = positionals;
    const action = ACTIONS.find((one) => one === word);
    if (action === undefined || id === undefined) throw new UsageError(`permissions takes ${ACTIONS.join(", ")}, and a plugin's id`, FIX);
    if (!MORE[action].fits(rest.length)) throw new UsageError(`permissions ${action} takes ${MORE[action].words}`, FIX);
    const { findProject } = await import("../../plugins/project.ts");
    const project = await findProject(values);
    if (action === "diff") {
      const { diffPage, permissionDiff } = await import("../../plugins/permission-diff.ts");
      const { progress } = await import("../../plugins/progress.ts");
      const found = await permissionDiff(project, id, rest[0], progress(err));
      if (isJson) out.line(JSON.stringify(found, undefined, 2));
      else diffPage(found, out);
      return EXIT.ok;
    }
    if (action === "suggest") {
      const { usageReport, usagePage } = await import("../../plugins/narrowest-grants.ts");
      const { commandLine } = await import("../../self.ts");
      const { config, "state-dir": stateDir } = values;
      const found = await usageReport(project, id, (...words) => commandLine(words, { config, "state-dir": stateDir }));
      if (isJson) out.line(JSON.stringify(found, undefined, 2));
      else usagePage(found, out);
      return EXIT.ok;
    }
    const { findInstalled } = await import("../../plugins/installed-plugin.ts");
    const { permissionsPage } = await import("../../plugins/entry-page.ts");
    if (action === "grant") {
      const { expectAnswered } = await import("../../plugins/change-permissions.ts");
      if (!(await expectAnswered(project, id, rest, { values, isJson, terminal: out }))) {
        err.line(`${err.paint("red", "✗")} nothing was granted`);
        return EXIT.failed;
      }
    }
    if (action !== "show") {
      const { changePermissions } = await import("../../plugins/change-permissions.ts");
      await changePermissions(project.state, id, action, rest);
    }
    const { tellRunning } = await import("../../plugins/running-hosts.ts");
    const running = action === "show" ? undefined : await tellRunning(project.state.dir, id);
    const known = await findInstalled(project, id);
    const refused = (known.review?.permissions ?? []).map(({ key }) => key).filter((key) => !known.permissions.includes(key));
    if (isJson)
      out.line(JSON.stringify({ id, permissions: known.permissions, refused, ...(running && { running: running.rows }) }, undefined, 2));
    else {
      out.line(out.paint("bold", id));
      permissionsPage(known, out);
      if (running) running.say(out);
      else if (action !== "show") out.line(out.paint("gray", "restart running gateways to apply it"));
    }
    return EXIT.ok;
  },
});
