/** `creel call`: runs one hook or one declared function from the shell, and prints the outcome. */
import { existsSync } from "node:fs";
import { CALL_OPTIONS } from "../../call/options.ts";
import { INSPECT_OPTIONS, inspectionOf, sayInspect } from "../../inspect/options.ts";
import { UsageError } from "../../options.ts";
import { printableJson } from "../../ui/text.ts";
import type { FunctionOutcome } from "../../../protocol/messages/functions.ts";
import type { Outcome } from "../../../protocol/outcome.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const call = defineVerb({
  name: "call",
  summary: "runs one hook through plugins, or one tool, command, method or job of theirs, and prints the outcome",
  takes: "<hook | tool:name | command:name | method:name | job:name>",
  options: {
    ...CALL_OPTIONS,
    config: {
      ...CALL_OPTIONS.config,
      help: "a creel.json: its plugins and their grants (default: ./creel.json, unless a plugin is named)",
    },
    "state-dir": {
      type: "string",
      value: "path",
      help: "where plugins are installed (default: CREEL_STATE_DIR, or stateDir of creel.json)",
    },
    plugin: { type: "string", multiple: true, value: "path", help: "a plugin to call; alone, unless --config or --state-dir is given" },
    argument: { type: "string", value: "json", help: "what a tool, method or job is given, as JSON; for a command, its text" },
    serve: { type: "boolean", help: "call the host that creel serve runs for this folder, instead of opening one" },
    socket: { type: "string", value: "path", help: "call the host that creel serve runs there" },
    inspect: {
      ...INSPECT_OPTIONS["inspect-brk"],
      help: "wait for a debugger, and pause at the first line of the plugin (default port: 9229, or any that is free)",
    },
    example: { type: "boolean", help: "print the smallest valid event, and run nothing" },
  },
  examples: [
    "creel call before_tool_call --example",
    `creel call before_tool_call --plugin ./my-plugin --event '{"toolName":"exec","params":{"command":"ls"}}'`,
    `creel call tool:search --argument '{"query":"creel"}'`,
    `creel call before_tool_call --plugin ./my-plugin --event @event.json --inspect`,
    "creel call before_tool_call --serve --event @event.json",
    "creel call message_sending --config creel.json --event @message.json --json | jq .result.content",
  ],
  prints: "the outcome, as `host.run` or `host.call` gives it; with `--example`, the event",
  exits: { ok: "the hook was run, whatever was decided; or the function returned", failed: "it could not be run, or the function failed" },
  async run({ values, positionals, isJson, out, err }) {
    const { exampleOf, findHook, readInput } = await import("../../call/input.ts");
    const { argumentOf, targetOf } = await import("../../call/target.ts");
    const target = targetOf(positionals[0], positionals[1]);
    const hook = target === undefined ? findHook(positionals[0], positionals[1]) : undefined;
    if (values.example && hook) {
      out.line(JSON.stringify(exampleOf(hook), undefined, 2));
      return EXIT.ok;
    }
    const asked = target
      ? { call: { target, argument: argumentOf(target, values.argument) } }
      : { input: await readInput(hook!, values.event, values.ctx) };
    const { failure, functionPage, page, told } = await import("../../call/page.ts");
    const show = (outcome: Outcome | FunctionOutcome): number => {
      if (isJson) out.line(printableJson(outcome, 2));
      else if ("hook" in outcome) page(outcome, out);
      else functionPage(outcome, out);
      return "hook" in outcome || outcome.status === "ok" ? EXIT.ok : EXIT.failed;
    };
    const inspection = inspectionOf({ "inspect-brk": values.inspect });
    if (values.grant && !values.plugin)
      throw new UsageError(
        "--grant is for a plugin by its path",
        'name it with --plugin; for an installed one run "creel permissions grant <id> <key>"',
      );
    if (inspection && !values.plugin)
      throw new UsageError("a debugger needs a plugin by its path", 'name it with --plugin, such as "--plugin ./my-plugin --inspect"');
    if (values.serve === true || values.socket !== undefined) {
      if (values.plugin || values.isolation)
        throw new UsageError("a host that runs has its own plugins and isolation", "leave out --plugin and --isolation, or --serve");
      const { joinServed } = await import("../../call/served.ts");
      const { socketOf } = await import("../../serve-socket.ts");
      await using host = await joinServed(await socketOf(values), values.approve);
      return show(
        asked.call
          ? await host.call(asked.call.target, asked.call.argument)
          : await host.run(asked.input.hook, asked.input.event as never, asked.input.ctx as never),
      );
    }
    const config = values.config ?? (values.plugin || !existsSync("creel.json") ? undefined : "creel.json");
    const stateDir = values["state-dir"];
    if (!values.plugin && [config, stateDir, process.env.CREEL_STATE_DIR].every((path) => !path))
      throw new UsageError(
        "there is nothing to call: no --plugin was given, and there is no creel.json here",
        'name a plugin with --plugin, or a creel.json with --config, or install one ("creel install ./my-plugin")',
      );
    const { Caller } = await import("../../call/caller.ts");
    const { sayWalls } = await import("../../ui/walls.ts");
    await using caller = await Caller.open({
      plugins: values.plugin ?? [],
      config,
      stateDir,
      permissions: values.grant,
      isolation: values.isolation ?? "process",
      approval: values.approve,
      ...(inspection && {
        inspect: {
          port: inspection.port,
          break: true,
          listening: (address) => sayInspect(address, true, err),
        },
      }),
      log: (line) => told(line, err),
    });
    sayWalls(caller.wallsWarning(), err);
    for (const { plugin, remark } of caller.remarks()) err.line(`${err.paint("yellow", "!")} ${plugin}: ${remark}`);
    const failures = caller.failures();
    for (const { report } of failures) failure(report, err);
    if (failures.some(({ isNamed }) => isNamed)) return EXIT.failed;
    const outcome = asked.call ? await caller.callFunction(asked.call) : await caller.call(asked.input);
    const code = show(outcome);
    const [tried] = values.plugin ?? [];
    if (!isJson && tried !== undefined && config === undefined && stateDir === undefined) {
      const { commandLine, next } = await import("../../self.ts");
      const { ranOutOfCpu } = await import("../../../protocol/outcome.ts");
      const isSlow = "hook" in outcome && outcome.calls.some(ranOutOfCpu);
      const profile = () => commandLine(["profile", tried], { hook: hook!.name, event: values.event });
      const missing = values.grant ? undefined : await ungranted(outcome);
      if (missing !== undefined)
        next(err, `the same command with --grant ${missing}, or with --grant requested for all that its manifest requests`);
      else next(err, isSlow ? profile() : commandLine(["install", tried]));
    }
    if (!isJson && tried === undefined) {
      const { socketOf } = await import("../../serve-socket.ts");
      const runs = existsSync(await socketOf(values));
      if (runs) err.line(err.paint("gray", "a host of its own ran this; --serve asks the one that creel serve runs here"));
    }
    return code;
  },
});

/** A permission that a handler missed, as an example of what to grant; undefined: none. */
async function ungranted(outcome: Outcome | FunctionOutcome): Promise<string | undefined> {
  const errors = "hook" in outcome ? outcome.calls.map(({ error }) => error) : [outcome.error];
  const found = errors.flatMap((error) => /(\S+) is not granted to/.exec(error?.message ?? "")?.[1] ?? [])[0];
  if (found === undefined) return undefined;
  // Not imported above: with it comes zod, and every command would load that.
  const { grantOf } = await import("../../../protocol/config/permission-key.ts");
  return grantOf(found) === undefined ? "<key>" : found;
}
