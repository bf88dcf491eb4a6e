/**
 * `creel update`: looks for newer versions of installed plugins, and installs those that the operator or their policy
 * accepts.
 */
import { CONSENT, PROJECT_OPTIONS } from "../../plugins/options.ts";
import { UsageError } from "../../options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const update = defineVerb({
  name: "update",
  summary: "shows what changed in installed plugins, including their code, and installs it if you accept; restores tampered files",
  takes: "[id]",
  options: {
    ...CONSENT,
    replay: { type: "boolean", help: "shows which recorded runs the new version would decide otherwise" },
    "dry-run": { type: "boolean", help: "shows the reviews, and changes nothing" },
    ...PROJECT_OPTIONS,
  },
  examples: [
    "creel update --dry-run --diff",
    "creel update",
    "creel update weather",
    "creel update weather --dry-run --replay",
    "creel update weather --accept sha256-…",
    "creel update --json | jq '.[].outcome'",
  ],
  prints:
    "a list with a row per plugin: `id`, `outcome` (`installed`, `unchanged`, `restored`, `refused`, `available`, `failed`), `from`, `to`, `digest`, `acceptedBy` (`person`, `digest`, `policy`), `policyAgainst`, `review`, `error`, `fix`, `diff` with --diff, `replay` with --replay, and `running` if a `creel serve` has that state folder",
  exits: {
    ok: "all are up to date, or with --dry-run, all were reviewed",
    failed: "an update was refused or failed; that plugin is unchanged",
  },
  asks: true,
  async run({ values, positionals, isJson, out, err }) {
    const [selected, extra] = positionals;
    if (extra !== undefined) throw new UsageError("update takes one plugin, or none for all", 'such as "creel update weather"');
    const { findProject } = await import("../../plugins/project.ts");
    const { updateAll } = await import("../../plugins/update.ts");
    const { consentOf } = await import("../../plugins/consent.ts");
    const project = await findProject(values, true);
    const done = new Set<string>();
    const outcome = (): string =>
      done.size === 0 ? "Nothing was updated." : `Updated before you left: ${[...done].join(", ")}; nothing else was changed.`;
    const results = await updateAll(project, selected, {
      consent: consentOf(values, { verb: "update", isJson, isOneOfMany: selected === undefined, outcome }),
      terminal: isJson ? err : out,
      isJson,
      isDry: values["dry-run"] === true,
      hasDiff: values.diff === true,
      hasReplay: values.replay === true,
      changed: (id) => void done.add(id),
    });
    if (isJson) out.line(JSON.stringify(results, (_, value: unknown) => value ?? null, 2));
    else if (results.length === 0) out.line("no plugin is installed");
    for (const { id, outcome: what, error, fix, digest } of results) {
      if (what === "failed") err.line(`${err.paint("red", "✗")} ${id} was not updated: ${error}\n  ${err.paint("bold", "Fix:")} ${fix}`);
      if (what === "refused")
        err.line(
          `${err.paint("red", "✗")} ${id} was not updated: the change was not accepted\n  ${err.paint("bold", "Fix:")} read what changes; to accept it, run "creel update ${id} --accept ${digest}"`,
        );
    }
    return results.some(({ outcome: what }) => what === "failed" || what === "refused") ? EXIT.failed : EXIT.ok;
  },
});
