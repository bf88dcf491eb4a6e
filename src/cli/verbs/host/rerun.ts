/** `creel rerun`: one recorded run once more, against the plugins as they are, without consequences. */
import { only, PROJECT_OPTIONS } from "../../plugins/options.ts";
import { UsageError } from "../../options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const rerun = defineVerb({
  name: "rerun",
  summary: "runs a recorded run again, with its event or an edited one, without network and on a copy of the plugins' data",
  takes: "<runId>",
  options: {
    event: { type: "string", value: "file", help: "the event to run instead of the recorded one, as JSON" },
    isolation: { type: "string", choices: ["process", "thread"], help: "where the plugins run (default: process)" },
    ...PROJECT_OPTIONS,
  },
  examples: [
    "creel rerun h1a2b3c4d-17",
    "creel rerun h1a2b3c4d-17 --event edited.json",
    "creel rerun h1a2b3c4d-17 --json | jq .outcome.calls",
  ],
  prints: "`before` and `after`, the decisions, and `outcome`, as `host.run` gives it",
  exits: { ok: "it was run", failed: "it was not recorded, or the event is not valid" },
  async run({ values, positionals, isJson, out }) {
    const runId = only("rerun", "the id of a recorded run", positionals, "creel rerun h1a2b3c4d-17");
    const { findProject } = await import("../../plugins/project.ts");
    const { Recordings } = await import("../../../state/recordings.ts");
    const { rerun: again } = await import("../../../replay/rerun.ts");
    const { CreelError } = await import("../../../protocol/errors.ts");
    const { rerunPage } = await import("../../replay/page.ts");
    const { printableJson } = await import("../../ui/text.ts");
    const { config, base, state } = await findProject(values);
    const recorded = await new Recordings(state.dir).find(runId);
    if (!recorded) throw new CreelError("ERR_REPLAY_RUN", { runId });
    const event = values.event === undefined ? recorded.event : await eventIn(values.event);
    const setup = { config, base, stateDir: state.dir, ...(values.isolation && { isolation: values.isolation }) };
    const done = await again(recorded, setup, event);
    if (isJson) out.line(printableJson(done, 2));
    else rerunPage(done, out);
    return EXIT.ok;
  },
});

/** The host checks it against its hook. */
async function eventIn(file: string): Promise<Record<string, unknown>> {
  const { readFile } = await import("node:fs/promises");
  const z = await import("zod");
  const { parseJson } = await import("../../../text/parse-json.ts");
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw new UsageError(`${file} cannot be read: ${error.message}`, "name a file with the event as JSON");
  });
  const { success, data } = parseJson(z.record(z.string(), z.unknown()), text);
  if (!success) throw new UsageError(`${file} is no JSON object`, 'write the event as JSON, such as {"toolName":"exec","params":{}}');
  return data;
}
