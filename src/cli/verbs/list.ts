/** `creel list`: what is installed, from the lock alone. */
import { PLACE } from "../plugins/options.ts";
import { defineVerb, EXIT } from "../verb.ts";

export const list = defineVerb({
  name: "list",
  summary: "lists the installed plugins; starts nothing, and runs nothing of theirs",
  options: PLACE,
  examples: ["creel list", "creel list --json | jq '.[] | select(.enabled) | .id'"],
  prints: "a list with a row per plugin: `id`, `name`, `version`, `enabled`, `hooks`, `permissions`, `source`",
  async run({ values, isJson, out }) {
    const { findPlace } = await import("../plugins/place.ts");
    const { keysOf } = await import("../../install/keys.ts");
    const { table } = await import("../ui/table.ts");
    const { state, config } = await findPlace(values);
    const rows = Array.from((await state.read()).values(), (entry) => ({
      id: entry.id,
      name: entry.name,
      version: entry.version ?? null,
      enabled: entry.enabled && config.plugins?.enabled !== false && config.plugins?.entries?.[entry.id]?.enabled !== false,
      hooks: entry.hooks.map(({ hook }) => hook),
      permissions: keysOf(entry),
      source: entry.source.resolved,
    }));
    if (isJson) out.line(JSON.stringify(rows, undefined, 2));
    else if (rows.length === 0) out.line(`no plugin is installed in ${state.dir}`);
    else
      table(
        [
          { head: "id", style: () => "cyan" },
          { head: "version" },
          { head: "state", style: (cell) => (cell === "enabled" ? "green" : "yellow") },
          { head: "hooks" },
          { head: "permissions" },
          { head: "from", style: () => "gray" },
        ],
        rows.map(({ id, version, enabled, hooks, permissions, source }) => [
          id,
          version ?? "–",
          enabled ? "enabled" : "disabled",
          String(hooks.length),
          String(permissions.length),
          source,
        ]),
        out,
      );
    return EXIT.ok;
  },
});
