/** `creel hook`: asks a running `creel serve` for another agent. `cli/hook/main.ts` runs the calls, without this table. */
import { AGENTS, agentOf } from "../../../serve/agents/agents.ts";
import { UsageError } from "../../options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

const NAMES = AGENTS.map(({ name }) => name);
const FIX = 'such as "creel hook install --for claude-code"';

export const hook = defineVerb({
  name: "hook",
  summary: "asks the plugins of a running creel serve before another agent's tools run: Claude Code, Codex and others",
  takes: "[install|uninstall]",
  options: {
    for: { type: "string", choices: NAMES, help: "the agent" },
    event: { type: "string", value: "name", help: "a call: the agent's event, whose payload is on stdin" },
    socket: {
      type: "string",
      value: "path",
      help: "where creel serve listens (default: that of CREEL_STATE_DIR; install writes down that of the state folder here)",
    },
    wait: { type: "string", value: "ms", help: "a call: how long the host has before the answer is a denial (default: 25000)" },
    project: { type: "boolean", help: "install, uninstall: in this folder's settings instead of yours" },
    file: {
      type: "string",
      value: "path",
      help: "install, uninstall: another settings file, or for cline, goose and copilot-cli a folder",
    },
    yes: { type: "boolean", help: "install, uninstall: do not ask" },
    "dry-run": { type: "boolean", help: "install, uninstall: show the changes, and write nothing" },
  },
  examples: [
    "creel hook install --for claude-code",
    "creel hook install --for codex --project --dry-run",
    "creel hook uninstall --for claude-code",
    "creel hook --for claude-code --event PreToolUse < payload.json",
  ],
  prints:
    "a call prints the agent's own JSON with or without it; install and uninstall: `{ agent, action, outcome, files, next }`, where `outcome` is `done`, `unchanged`, `declined` or `dry-run`",
  exits: { ok: "done; a call: answered, be it with a denial", failed: "not done" },
  asks: true,
  async run({ values, positionals, isJson, out, err }) {
    const [action, extra] = positionals;
    const format = agentOf(values.for);
    if (!format) throw new UsageError(`hook needs --for with one of ${NAMES.join(", ")}`, FIX);
    if (action === undefined) {
      const { answerHook, hookCallOf } = await import("../../hook/call.ts");
      const { event, socket, wait } = values;
      const given = { for: values.for, event, socket, wait };
      const call = hookCallOf(Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value])));
      if (!call) throw new UsageError(`a call needs --event with one of ${Object.keys(format.events).join(", ")}`, FIX);
      const { json, problem } = await answerHook(call, process.stdin);
      if (problem !== undefined) err.line(`creel: ${problem}`);
      if (json !== undefined) out.line(JSON.stringify(json));
      return EXIT.ok;
    }
    if ((action !== "install" && action !== "uninstall") || extra !== undefined)
      throw new UsageError(`hook takes install or uninstall, not "${extra ?? action}"`, FIX);
    const { existsSync } = await import("node:fs");
    const { socketOf } = await import("../../serve-socket.ts");
    // Agents run anywhere, and a folder of theirs must not choose the host: the settings name the one that serves here.
    const hasHost = existsSync("creel.json") || Boolean(process.env.CREEL_STATE_DIR);
    const { changeSettings } = await import("../../hook/change-settings.ts");
    return changeSettings(action, format, {
      isProject: values.project === true,
      file: values.file,
      socket: values.socket ?? (hasHost ? await socketOf({}) : undefined),
      isYes: values.yes === true,
      isDryRun: values["dry-run"] === true,
      isJson,
      out,
      err,
      start: [process.execPath, ...process.execArgv, process.argv[1]!],
    });
  },
});
