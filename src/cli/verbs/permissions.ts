/** `creel permissions`: what an installed plugin may do, and changes of that. */
import { UsageError } from "../options.ts";
import { PLACE } from "../plugins/options.ts";
import { defineVerb, EXIT } from "../verb.ts";

const FIX = 'such as "creel permissions show weather" or "creel permissions revoke weather kv"';

export const permissions = defineVerb({
  name: "permissions",
  summary: "shows, grants or revokes what an installed plugin may do",
  takes: "show|grant|revoke <id> [key …]",
  options: PLACE,
  examples: [
    "creel permissions show weather",
    "creel permissions grant weather fetch:https://api.example.com/v1#GET",
    "creel permissions revoke weather kv env:API_KEY",
    "creel permissions show weather --json | jq .permissions",
  ],
  prints: "`id`, the granted `permissions` as keys, and what is `refused` of what it asked for",
  async run({ values, positionals, isJson, out }) {
    const [action, id, ...keys] = positionals;
    if ((action !== "show" && action !== "grant" && action !== "revoke") || id === undefined)
      throw new UsageError("permissions takes show, grant or revoke, and a plugin's id", FIX);
    if ((action === "show") !== (keys.length === 0))
      throw new UsageError(`permissions ${action} takes ${action === "show" ? "no keys" : "keys"}`, FIX);
    const { findPlace } = await import("../plugins/place.ts");
    const { lookUp } = await import("../plugins/look-up.ts");
    const { permissionsPage } = await import("../plugins/entry-page.ts");
    const place = await findPlace(values);
    if (action !== "show") {
      const { changePermissions } = await import("../plugins/change-permissions.ts");
      await changePermissions(place.state, id, action, keys);
    }
    const known = await lookUp(place, id);
    const refused = (known.review?.permissions ?? []).map(({ key }) => key).filter((key) => !known.permissions.includes(key));
    if (isJson) out.line(JSON.stringify({ id, permissions: known.permissions, refused }, undefined, 2));
    else {
      out.line(out.paint("bold", id));
      permissionsPage(known, out);
      if (action !== "show") out.line(out.paint("gray", "a gateway that runs knows when it is started again"));
    }
    return EXIT.ok;
  },
});
