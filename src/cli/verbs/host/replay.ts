/** `creel replay`: recorded runs through another version, other grants or another order of plugins, without consequences. */
import { PROJECT_OPTIONS } from "../../plugins/options.ts";
import { UsageError } from "../../options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const replay = defineVerb({
  name: "replay",
  summary: "runs what was recorded through changed plugins, without network and on a copy of their data, and shows which decisions differ",
  options: {
    plugin: { type: "string", multiple: true, value: "id=path", help: "with this version of the plugin" },
    grants: {
      type: "string",
      multiple: true,
      value: "id=keys",
      help: "with these permissions of the plugin, separated by spaces; or none",
    },
    order: { type: "string", value: "id,id…", help: "with these plugins first, among handlers of the same priority" },
    without: { type: "string", multiple: true, value: "id", help: "without this plugin" },
    since: { type: "string", value: "time", help: "only runs since then: 2h, 3d or a date" },
    bisect: { type: "string", value: "runId", help: "names the smallest set of plugins that causes the outcome of this run" },
    isolation: { type: "string", choices: ["process", "thread"], help: "where the plugins run (default: process)" },
    ...PROJECT_OPTIONS,
  },
  examples: [
    "creel replay --plugin guard=./guard-next",
    "creel replay --without guard --since 24h",
    `creel replay --grants 'weather={}' --json | jq '.changes'`,
    "creel replay --order audit,guard",
    "creel replay --bisect h1a2b3c4d-17",
  ],
  prints:
    "the report: `runs`, `hooks`, `changes` (a list with `hook`, `before`, `after`, `count`), `differences` (a list with `runId`, `hook`, `at`, `event`, `before`, `after`), `skipped`, `unstable`, `failures`; with --bisect: `verdict`, `recorded`, `plugins`, `without`, `rewritten`, `runs`, `words`",
  exits: { ok: "no decision differs, or with --bisect, the plugins were named", failed: "decisions differ, or nothing was recorded" },
  async run({ values, isJson, out, err }) {
    const { findProject } = await import("../../plugins/project.ts");
    const { Recordings } = await import("../../../state/recordings.ts");
    const { whatIfOf } = await import("../../replay/what-if-options.ts");
    const { CreelError } = await import("../../../protocol/errors.ts");
    const { printableJson } = await import("../../ui/text.ts");
    const page = await import("../../replay/page.ts");
    const since = sinceOf(values.since);
    const whatIf = whatIfOf(values);
    const { isNothing } = await import("../../../replay/what-if.ts");
    if (values.bisect !== undefined && !isNothing(whatIf))
      throw new UsageError("--bisect is about the plugins as they are", "leave out --plugin, --grants, --order and --without");
    const { config, base, state } = await findProject(values);
    const setup = { config, base, stateDir: state.dir, ...(values.isolation && { isolation: values.isolation }) };
    const recordings = new Recordings(state.dir);
    if (values.bisect !== undefined) {
      const { bisect } = await import("../../../replay/bisect.ts");
      const run = await recordings.find(values.bisect);
      if (!run) throw new CreelError("ERR_REPLAY_RUN", { runId: values.bisect });
      const found = await bisect(run, setup);
      if (isJson) out.line(printableJson(found, 2));
      else page.bisectPage(found, out);
      return EXIT.ok;
    }
    const { replay: run } = await import("../../../replay/replay.ts");
    const report = await run(recordings.runs(since), setup, whatIf, {
      progress: (runs) => runs % 500 === 0 && err.rewrite?.(`${runs} runs …`),
    });
    if (report.runs + report.skipped === 0)
      throw new CreelError("ERR_REPLAY_EMPTY", { path: state.dir, detail: values.since === undefined ? "" : ` since ${values.since}` });
    if (isJson) out.line(printableJson(report, 2));
    else page.replayPage(report, !isNothing(whatIf), out);
    return report.changes.length === 0 ? EXIT.ok : EXIT.failed;
  },
});

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds since 1970. */
function sinceOf(text: string | undefined): number {
  if (text === undefined) return 0;
  const [, count, unit] = /^(\d+)([mhd])$/.exec(text) ?? [];
  const at = count === undefined ? Date.parse(text) : Date.now() - Number(count) * UNITS[unit as keyof typeof UNITS];
  if (Number.isNaN(at))
    throw new UsageError(`--since cannot be "${text}"`, "give an age such as 90m, 2h or 3d, or a date such as 2026-11-18T08:00Z");
  return at;
}
