/** `creel dev`: a plugin loaded again with every change, and its hook run again. */
import { CALL_OPTIONS } from "../../call/options.ts";
import type { CallInput } from "../../call/input.ts";
import { INSPECT_OPTIONS, inspectionOf } from "../../inspect/options.ts";
import { UsageError } from "../../options.ts";
import type { Terminal } from "../../ui/terminal.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const dev = defineVerb({
  name: "dev",
  summary: "reloads a plugin whenever its files change and runs a hook through it each time, until Ctrl-C",
  takes: "<folder or file>",
  options: {
    hook: { type: "string", value: "hook", help: "the hook to run (default: none; the plugin is only loaded)" },
    ...CALL_OPTIONS,
    "from-run": { type: "string", value: "run", help: "the event of a past run: its id in the audit log or the recordings" },
    incident: { type: "string", value: "file", help: 'the event of an incident file, from "creel explain --save"' },
    "state-dir": { type: "string", value: "path", help: "where --from-run looks (default: CREEL_STATE_DIR, or stateDir of creel.json)" },
    ...INSPECT_OPTIONS,
  },
  examples: [
    "creel dev ./my-plugin",
    `creel dev ./my-plugin --hook message_sending --event '{"to":"me","content":"hello"}'`,
    "creel dev ./my-plugin --inspect",
    "creel dev ./my-plugin --from-run h5e81f140-17",
    "creel dev ./my-plugin --incident incident.creel",
  ],
  prints: "a line per load: the outcome, or `{ loaded, error }`",
  exits: { ok: "ended by Ctrl-C", failed: "there is no such plugin" },
  async run({ values, positionals, isJson, out, err }) {
    const [path, extra] = positionals;
    if (path === undefined || extra !== undefined)
      throw new UsageError("dev takes one plugin, as a folder or a file", 'such as "creel dev ./my-plugin"');
    const { exampleOf, findHook, readInput } = await import("../../call/input.ts");
    const { "from-run": runId, incident } = values;
    if ([values.hook, runId, incident].filter((one) => one !== undefined).length > 1)
      throw new UsageError("the event comes from one place", "give --hook, --from-run or --incident");
    const hook = values.hook === undefined ? undefined : findHook(values.hook, undefined);
    if (!hook && values.event !== undefined) throw new UsageError("an event needs a hook to run", "name it with --hook");
    // Without an event, the example shows at least that the handler runs.
    const given = hook && (await readInput(hook, values.event ?? JSON.stringify(exampleOf(hook)), values.ctx));
    const input = given ?? (runId === undefined && incident === undefined ? undefined : await pastInput(path, values, err));
    const { develop } = await import("../../dev/develop.ts");
    const stop = new AbortController();
    process.once("SIGINT", () => stop.abort());
    process.once("SIGTERM", () => stop.abort());
    const { config, grant: permissions, isolation = "process", approve: approval } = values;
    const inspection = inspectionOf(values);
    const keyboard = process.stdin;
    await develop({ path, input, config, permissions, isolation, approval, inspection, isJson, out, err, keyboard, signal: stop.signal });
    return EXIT.ok;
  },
});

/** The event of a past run, or of an incident; with the incident, what it says is shown. */
async function pastInput(
  path: string,
  values: { readonly "from-run"?: string; readonly incident?: string; readonly config?: string; readonly "state-dir"?: string },
  err: Terminal,
): Promise<CallInput> {
  if (values.incident !== undefined) {
    const { openIncident } = await import("../../incident/open.ts");
    return openIncident(values.incident, path, err);
  }
  const { pastInput: inputOf } = await import("../../incident/past-input.ts");
  return inputOf(values["from-run"]!, values);
}
