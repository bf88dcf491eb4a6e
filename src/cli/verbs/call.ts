/** `creel call`: the shell's way in. Runs one hook, and prints what came of it. */
import { existsSync } from "node:fs";
import { CALL_OPTIONS } from "../call/options.ts";
import { UsageError } from "../options.ts";
import { printable } from "../ui/json.ts";
import { defineVerb, EXIT } from "../verb.ts";

export const call = defineVerb({
  name: "call",
  summary: "runs one hook through plugins and prints what they decided, and what each call cost",
  takes: "<hook>",
  options: {
    ...CALL_OPTIONS,
    config: {
      ...CALL_OPTIONS.config,
      help: "a creel.json: its plugins, and what they were granted (default: ./creel.json, unless a plugin is named)",
    },
    "state-dir": {
      type: "string",
      value: "path",
      help: "where plugins are installed (default: CREEL_STATE_DIR, or stateDir of the creel.json)",
    },
    plugin: { type: "string", multiple: true, value: "path", help: "a plugin to call, alone unless --config or --state-dir is there, too" },
    example: { type: "boolean", help: "print the smallest event that the hook takes, and run nothing" },
  },
  examples: [
    "creel call before_tool_call --example",
    `creel call before_tool_call --plugin ./my-plugin --event '{"toolName":"exec","params":{"command":"ls"}}'`,
    "creel call message_sending --config creel.json --event @message.json --json | jq .result.content",
  ],
  prints: "the outcome, as `host.run` gives it; with `--example`, the event",
  exits: { ok: "the hook was run, whatever was decided", failed: "it could not be run" },
  async run({ values, positionals, isJson, out, err }) {
    const { exampleOf, findHook, readInput } = await import("../call/input.ts");
    const hook = findHook(positionals[0], positionals[1]);
    if (values.example) {
      out.line(JSON.stringify(exampleOf(hook), undefined, 2));
      return EXIT.ok;
    }
    const input = await readInput(hook, values.event, values.ctx);
    const config = values.config ?? (values.plugin || !existsSync("creel.json") ? undefined : "creel.json");
    const stateDir = values["state-dir"];
    if (!values.plugin && [config, stateDir, process.env.CREEL_STATE_DIR].every((place) => !place))
      throw new UsageError(
        "there is nothing to call: no plugin is named, and there is no creel.json here",
        'name a plugin with --plugin, or a creel.json with --config, or install one ("creel install ./my-plugin")',
      );
    const { Caller } = await import("../call/caller.ts");
    const { failure, page, told } = await import("../call/page.ts");
    await using caller = await Caller.open({
      plugins: values.plugin ?? [],
      config,
      stateDir,
      isolation: values.isolation ?? "process",
      approval: values.approve,
      log: (line) => told(line, err),
    });
    for (const { plugin, remark } of caller.remarks()) err.line(`${err.paint("yellow", "!")} ${plugin}: ${remark}`);
    const failures = caller.failures();
    for (const { report } of failures) failure(report, err);
    if (failures.some(({ isNamed }) => isNamed)) return EXIT.failed;
    const outcome = await caller.call(input);
    if (isJson) out.line(printable(outcome, 2));
    else {
      page(outcome, out);
      const [tried] = values.plugin ?? [];
      if (tried !== undefined && config === undefined && stateDir === undefined) {
        const { commandLine, next } = await import("../ui/next.ts");
        next(err, commandLine(["install", tried]));
      }
    }
    return EXIT.ok;
  },
});
