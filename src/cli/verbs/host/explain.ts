/** `creel explain`: why something was blocked, from the audit log, which needs no host that runs. A run that passed is only in the host. */
import { CreelError } from "../../../protocol/errors.ts";
import { PROJECT_OPTIONS } from "../../plugins/options.ts";
import { UsageError } from "../../options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const explain = defineVerb({
  name: "explain",
  summary: "explains why a run was blocked or failed: which plugin decided, what each one saw, returned and used, and what to do",
  takes: "[last|runId]",
  options: {
    plugin: { type: "string", value: "id", help: "only runs in which this plugin decided or failed" },
    since: { type: "string", value: "time", help: "only runs since then: 30m, 2h, 7d, or a date such as 2026-01-31" },
    save: { type: "string", value: "file", help: "write an incident file for the plugin's author: the run, its event, versions, profile" },
    redact: {
      type: "string",
      multiple: true,
      value: "field",
      help: "a field of the event that the incident file does not contain, such as params.command",
    },
    "no-profile": { type: "boolean", help: "do not run a call that ran out of CPU time or memory again to find out where it went" },
    ...PROJECT_OPTIONS,
  },
  examples: [
    "creel explain",
    "creel explain last",
    "creel explain --plugin weather --since 2h",
    "creel explain h5e81f140-17",
    "creel explain h5e81f140-17 --save incident.creel --redact params.command",
    "creel explain h5e81f140-17 --json | jq '.run.calls[] | {plugin, status, returned}'",
  ],
  prints:
    "`run` (a line of the audit log, see audit.md), `why`, `advice`, and `around`, what happened to its plugins then, and `profile`, if a plugin ran out of CPU time: the lines of its source where the time went, or `memory`, if it ran out of that: the constructors that grew, and where, or `unknown`: why neither can be told; `live`, if a host that runs here remembers the run: `wallMs`, `activateMs`, `logs`, `caused`, `causedBy`, and of each of its `calls` the `startMs`, `lane`, `attempt` and `batch`; without a run, a list of the last 20 `run`s that --plugin and --since select",
  exits: { ok: "the run was found", failed: "neither the audit log nor a host that runs here has it" },
  async run({ values, positionals, isJson, out, err }) {
    const [runId, extra] = positionals;
    if (extra !== undefined) throw new UsageError("explain takes one run, or none for a list", 'such as "creel explain h5e81f140-17"');
    const { findProject } = await import("../../plugins/project.ts");
    const { AuditLog } = await import("../../../state/audit-log.ts");
    const { around, findRun, lastRuns, sinceOf } = await import("../../explain/find.ts");
    const { explainPage, runsPage } = await import("../../explain/page.ts");
    const { adviceOf, whyOf } = await import("../../../text/run-advice.ts");
    const { commandLine } = await import("../../self.ts");
    const { printableJson, wrap } = await import("../../ui/text.ts");
    const { oneLine } = await import("../../../text/one-line.ts");
    const project = await findProject(values, true);
    const { state } = project;
    const log = new AuditLog(state.dir);
    const chosen = { plugin: values.plugin, since: values.since === undefined ? undefined : sinceOf(values.since) };
    const tell = (...words: string[]): string => commandLine(words, { config: values.config, "state-dir": values["state-dir"] });
    const isNarrowed = values.plugin !== undefined || values.since !== undefined;
    if (runId === undefined) {
      const runs = await lastRuns(log, chosen);
      if (isJson) out.line(printableJson(runs, 2));
      else if (runs.length === 0)
        out.line(`the audit log in ${log.dir} has no ${isNarrowed ? "such run" : "run"} that was blocked or failed`);
      else {
        runsPage(runs, out);
        out.line(out.paint("gray", `"${tell("explain")} <run>" shows one in detail`));
      }
    } else {
      const [last] = runId === "last" ? await lastRuns(log, chosen, 1) : [];
      const logged = last ?? (await findRun(log, runId).catch(unlessUnknown));
      const { liveRun } = await import("../../explain/live-run.ts");
      const found = await liveRun(logged instanceof CreelError ? runId : logged.runId, values);
      // What the log has of a run is what happened then; budgets of the host are today's.
      const live = logged instanceof CreelError ? found : undefined;
      const run = live?.run ?? logged;
      if (run instanceof CreelError) throw run;
      const states = await around(log, run);
      const why = live?.why ?? whyOf(run);
      const installed = await state.read();
      const { grantAdvice } = await import("../../explain/grant-advice.ts");
      const advice = [...(await grantAdvice(project, run, tell)), ...adviceOf(run, { tell, isInstalled: (id) => installed.has(id) })];
      const { blamesOf } = await import("../../profile/blame.ts");
      const { profile, memory, unknown } = values["no-profile"] ? {} : await blamesOf(run, project);
      if (isJson) out.line(printableJson({ run, why, advice, around: states, profile, memory, unknown, live: found?.live }, 2));
      else {
        explainPage(run, why, advice, states, out, found?.live);
        if (profile) {
          const { cpuLines } = await import("../../profile/page.ts");
          out.line();
          cpuLines(profile, out);
          out.line(out.paint("gray", `  ${profile.path}: open it in Chrome DevTools`));
        }
        if (memory) {
          const { heapLines } = await import("../../profile/page.ts");
          out.line();
          heapLines(memory, out);
          const words = ["profile", memory.plugin, "--heap", "--from-run", run.runId, "--out", "memory.heapsnapshot"];
          out.line(out.paint("gray", `  for a snapshot: ${tell(...words)}`));
        }
        if (unknown !== undefined) {
          out.line();
          for (const words of wrap(oneLine(`There are no lines of the source: ${unknown}`, 1_000), out.width)) out.line(words);
        }
      }
      if (values.save !== undefined) {
        const { saveRun } = await import("../../incident/save.ts");
        for (const line of await saveRun(values.save, run, project, profile, values.redact ?? [])) err.line(line);
      }
    }
    if (log.unreadable > 0) err.line(err.paint("gray", `${log.unreadable} lines of ${log.dir} could not be read and were skipped`));
    return EXIT.ok;
  },
});

/** A host that runs may have what the log has not; if it has not, this error is the answer. */
function unlessUnknown(error: unknown): CreelError {
  if (error instanceof CreelError && error.code === "ERR_AUDIT_UNKNOWN") return error;
  throw error;
}
