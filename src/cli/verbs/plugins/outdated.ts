/** `creel outdated`: which installed plugins have something newer where they came from. Looks, and touches nothing. */
import { PROJECT_OPTIONS } from "../../plugins/options.ts";
import { UsageError } from "../../options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const outdated = defineVerb({
  name: "outdated",
  summary: "lists installed plugins whose source has a newer version or changed files; changes nothing, and runs none of their code",
  takes: "[id]",
  options: PROJECT_OPTIONS,
  examples: ["creel outdated", "creel outdated --json | jq -r '.[] | select(.status != \"current\") | .id'"],
  prints:
    "a list with a row per plugin: `id`, `installed` and `available` (versions, or a commit), `status` (`current`, `newer`, `changed`, or null if its source could not be read), `source`, `error`, `fix`",
  exits: { ok: "all sources were read", failed: "a source could not be read" },
  async run({ values, positionals, isJson, out, err }) {
    const [selected, extra] = positionals;
    if (extra !== undefined) throw new UsageError("outdated takes one plugin, or none for all", 'such as "creel outdated weather"');
    const { findProject } = await import("../../plugins/project.ts");
    const { triedAvailable } = await import("../../../install/fetch/available.ts");
    const { unknownPlugin } = await import("../../../state/lock-file.ts");
    const { commandLine, next } = await import("../../self.ts");
    const { table } = await import("../../ui/table.ts");
    const { oneLine } = await import("../../../text/one-line.ts");
    const { state, configFile } = await findProject(values, true);
    const known = await state.read();
    const entries = [...known.values()].filter(({ id }) => selected === undefined || id === selected);
    if (selected !== undefined && entries.length === 0) throw unknownPlugin(selected, known);
    const rows = [];
    for (const entry of entries) {
      const {
        status = null,
        version = null,
        error,
      } = await triedAvailable(entry, { without: [state.dir, ...(configFile === undefined ? [] : [configFile])] });
      const available = version === null ? null : oneLine(version, 64);
      const wrong = { error: error?.message ?? null, fix: error?.fix ?? null };
      rows.push({ id: entry.id, installed: entry.version ?? null, available, status, source: entry.source.spec, ...wrong });
    }
    const isOutdated = rows.some(({ status }) => status === "newer" || status === "changed");
    if (isJson) out.line(JSON.stringify(rows, undefined, 2));
    else if (rows.length === 0) out.line("no plugin is installed");
    else {
      table(
        [
          { head: "id", style: () => "cyan" },
          { head: "installed" },
          { head: "available" },
          { head: "status", style: (cell) => (cell === "current" ? "green" : "yellow") },
          { head: "from", style: () => "gray" },
        ],
        rows.map(({ id, installed, available, status, source }) => [id, installed ?? "–", available ?? "–", status ?? "unknown", source]),
        out,
      );
      const { config, "state-dir": stateDir } = values;
      if (isOutdated) next(out, `${commandLine(["update"], { config, "state-dir": stateDir })} --dry-run --diff`);
    }
    for (const { id, error, fix } of rows)
      if (error !== null) err.line(`${err.paint("red", "✗")} ${id}: ${error}\n  ${err.paint("bold", "Fix:")} ${fix}`);
    return rows.some(({ error }) => error !== null) ? EXIT.failed : EXIT.ok;
  },
});
