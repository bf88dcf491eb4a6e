/** `creel explain`: why something was blocked, from the audit log. It needs no host that runs. */
import { PLACE } from "../plugins/options.ts";
import { UsageError } from "../options.ts";
import { defineVerb, EXIT } from "../verb.ts";

export const explain = defineVerb({
  name: "explain",
  summary: "says why a run was blocked or failed: who decided, what each plugin saw, returned and used, and what to do",
  takes: "[runId]",
  options: PLACE,
  examples: [
    "creel explain",
    "creel explain h5e81f140-17",
    "creel explain h5e81f140-17 --json | jq '.run.calls[] | {plugin, status, returned}'",
  ],
  prints:
    "`run` (a line of the audit log, see audit.md), `why`, `advice`, and `around`, what happened to its plugins then; without a run, a list of the last 20 `run`s",
  exits: { ok: "it is told", failed: "the log does not have it" },
  async run({ values, positionals, isJson, out, err }) {
    const [wanted, extra] = positionals;
    if (extra !== undefined) throw new UsageError("explain takes one run, or none for a list", 'such as "creel explain h5e81f140-17"');
    const { findPlace } = await import("../plugins/place.ts");
    const { AuditLog } = await import("../../state/audit-log.ts");
    const { around, findRun, lastRuns } = await import("../explain/find.ts");
    const { explainPage, runsPage } = await import("../explain/page.ts");
    const { adviceOf, whyOf } = await import("../explain/advice.ts");
    const { commandLine } = await import("../ui/next.ts");
    const { printable } = await import("../ui/json.ts");
    const { state } = await findPlace(values);
    const log = new AuditLog(state.dir);
    const tell = (...words: string[]): string => commandLine(words, { config: values.config, "state-dir": values["state-dir"] });
    if (wanted === undefined) {
      const runs = await lastRuns(log);
      if (isJson) out.line(printable(runs, 2));
      else if (runs.length === 0) out.line(`no run was blocked or failed, as far as ${log.dir} knows`);
      else {
        runsPage(runs, out);
        out.line(out.paint("gray", `"${tell("explain")} <run>" says more about one`));
      }
    } else {
      const run = await findRun(log, wanted);
      const states = await around(log, run);
      const why = whyOf(run);
      const advice = adviceOf(run, tell);
      if (isJson) out.line(printable({ run, why, advice, around: states }, 2));
      else explainPage(run, why, advice, states, out);
    }
    if (log.unreadable > 0) err.line(err.paint("gray", `${log.unreadable} lines of ${log.dir} could not be read, and were left out`));
    return EXIT.ok;
  },
});
