/** `creel permissions`: what an installed plugin may do, what it really used of that, and changes of it. */
import { UsageError } from "../options.ts";
import { PLACE } from "../plugins/options.ts";
import { defineVerb, EXIT } from "../verb.ts";

const FIX = 'such as "creel permissions show weather" or "creel permissions revoke weather kv"';
const ACTIONS = ["show", "diff", "suggest", "grant", "revoke"] as const;
type Action = (typeof ACTIONS)[number];

/** What follows the id. */
const MORE: Record<Action, { readonly words: string; readonly fits: (count: number) => boolean }> = {
  show: { words: "no keys", fits: (count) => count === 0 },
  diff: { words: "one version or source, or none", fits: (count) => count <= 1 },
  suggest: { words: "no keys", fits: (count) => count === 0 },
  grant: { words: "keys", fits: (count) => count > 0 },
  revoke: { words: "keys", fits: (count) => count > 0 },
};

export const permissions = defineVerb({
  name: "permissions",
  summary: "shows, compares, grants or revokes what an installed plugin may do, and suggests what it needs of it",
  takes: "show|diff|suggest|grant|revoke <id> [key|source …]",
  options: PLACE,
  examples: [
    "creel permissions show weather",
    "creel permissions suggest weather",
    "creel permissions diff weather 2.0.0",
    "creel permissions grant weather fetch:https://api.example.com/v1#GET",
    "creel permissions revoke weather kv env:API_KEY",
    "creel permissions show weather --json | jq .permissions",
  ],
  prints:
    "`id`, the granted `permissions` as keys, what is `refused` of what it asked for, and `running` if a `creel serve` has that state folder and was told; diff: `id`, `source`, `from`, `to` and `changes`, each with `sign`, `what`, `text`; suggest: `id`, `since`, `until`, `calls`, `configGrants`, `isThin` and `suggestions`, each with `sign`, `key`, `words`, `why`, `command`",
  async run({ values, positionals, isJson, out, err }) {
    const [word, id, ...rest] = positionals;
    const action = ACTIONS.find((one) => one === word);
    if (action === undefined || id === undefined) throw new UsageError(`permissions takes ${ACTIONS.join(", ")}, and a plugin's id`, FIX);
    if (!MORE[action].fits(rest.length)) throw new UsageError(`permissions ${action} takes ${MORE[action].words}`, FIX);
    const { findPlace } = await import("../plugins/place.ts");
    const place = await findPlace(values);
    if (action === "diff") {
      const { diffPage, permissionDiff } = await import("../plugins/permission-diff.ts");
      const { progress } = await import("../plugins/progress.ts");
      const found = await permissionDiff(place, id, rest[0], progress(err));
      if (isJson) out.line(JSON.stringify(found, undefined, 2));
      else diffPage(found, out);
      return EXIT.ok;
    }
    if (action === "suggest") {
      const { suggest, suggestPage } = await import("../plugins/suggest.ts");
      const { commandLine } = await import("../ui/next.ts");
      const { config, "state-dir": stateDir } = values;
      const found = await suggest(place, id, (...words) => commandLine(words, { config, "state-dir": stateDir }));
      if (isJson) out.line(JSON.stringify(found, undefined, 2));
      else suggestPage(found, out);
      return EXIT.ok;
    }
    const { lookUp } = await import("../plugins/look-up.ts");
    const { permissionsPage } = await import("../plugins/entry-page.ts");
    if (action !== "show") {
      const { changePermissions } = await import("../plugins/change-permissions.ts");
      await changePermissions(place.state, id, action, rest);
    }
    const { tellRunning } = await import("../plugins/running.ts");
    const running = action === "show" ? undefined : await tellRunning(place.state.dir, id);
    const known = await lookUp(place, id);
    const refused = (known.review?.permissions ?? []).map(({ key }) => key).filter((key) => !known.permissions.includes(key));
    if (isJson)
      out.line(JSON.stringify({ id, permissions: known.permissions, refused, ...(running && { running: running.rows }) }, undefined, 2));
    else {
      out.line(out.paint("bold", id));
      permissionsPage(known, out);
      if (running) running.say(out);
      else if (action !== "show") out.line(out.paint("gray", "a gateway that runs knows when it is started again"));
    }
    return EXIT.ok;
  },
});
