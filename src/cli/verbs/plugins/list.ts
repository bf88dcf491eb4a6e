/** `creel list`: the installed plugins, from the lock alone. */
import { existsSync } from "node:fs";
import { PROJECT_OPTIONS } from "../../plugins/options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const list = defineVerb({
  name: "list",
  summary: "lists the installed plugins; runs none of their code",
  options: { ids: { type: "boolean", help: "prints only the ids, one per line" }, ...PROJECT_OPTIONS },
  examples: ["creel list", "creel list --ids | xargs -n 1 creel inspect", "creel list --json | jq '.[] | select(.enabled) | .id'"],
  prints: "a list with a row per plugin: `id`, `name`, `version`, `enabled`, `hooks`, `permissions`, `source`",
  async run({ values, isJson, out }) {
    const { findProject } = await import("../../plugins/project.ts");
    const { permissionKeysOf } = await import("../../../install/review/permission-keys.ts");
    const { table } = await import("../../ui/table.ts");
    const { state, config, configFile } = await findProject(values, true);
    const rows = Array.from((await state.read()).values(), (entry) => ({
      id: entry.id,
      name: entry.name,
      version: entry.version ?? null,
      enabled: entry.enabled && config.plugins?.enabled !== false && config.plugins?.entries?.[entry.id]?.enabled !== false,
      hooks: entry.hooks.map(({ hook }) => hook),
      permissions: permissionKeysOf(entry),
      source: entry.source.resolved,
    }));
    if (isJson) out.line(JSON.stringify(rows, undefined, 2));
    else if (values.ids === true) for (const { id } of rows) out.line(id);
    else if (rows.length === 0)
      out.line(
        configFile === undefined || !existsSync(configFile)
          ? "no plugin is installed: there is no creel.json here"
          : `no plugin is installed in ${state.dir}`,
      );
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
