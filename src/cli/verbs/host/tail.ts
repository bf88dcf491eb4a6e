/** `creel tail`: follows a running host. */
import { FACT_NAMES } from "../../../protocol/fact-names.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const tail = defineVerb({
  name: "tail",
  summary: "follows a host that creel serve runs: prints calls, runs, logs and faults as they happen, until Ctrl-C",
  options: {
    socket: { type: "string", value: "path", help: "the socket of creel serve (default: the one of the state folder here)" },
    plugin: { type: "string", multiple: true, value: "id", help: "only what concerns this plugin" },
    hook: { type: "string", multiple: true, value: "hook", help: "only calls and runs of this hook" },
    status: {
      type: "string",
      multiple: true,
      value: "status",
      help: "only this status: a call's status, a run's decision, a log level …",
    },
    fact: { type: "string", multiple: true, choices: FACT_NAMES, help: "only facts of this kind" },
  },
  examples: [
    "creel tail",
    "creel tail --plugin guard --fact call --status timeout --status failed",
    "creel tail --fact run --json | jq .fact.outcome",
  ],
  prints: "a line per fact: `{ event, at, fact }`",
  exits: { ok: "ended by Ctrl-C, or because the host ended", failed: "no host answers there" },
  async run({ values, isJson, out, err }) {
    const { socketOf } = await import("../../serve-socket.ts");
    const { follow } = await import("../../tail/follow.ts");
    const { factLine } = await import("../../tail/line.ts");
    const { printable } = await import("../../ui/text.ts");
    const stop = new AbortController();
    process.once("SIGINT", () => stop.abort());
    process.once("SIGTERM", () => stop.abort());
    const { plugin: plugins, hook: hooks, status: statuses, fact: facts } = values;
    const socket = await socketOf(values);
    const why = await follow({
      socket,
      filter: { plugins, hooks, statuses, facts },
      signal: stop.signal,
      told: (name, fact) => out.line(isJson ? printable({ event: name, at: new Date().toISOString(), fact }) : factLine(name, fact, out)),
      began: ({ id, pid }) => err.line(err.paint("gray", `following ${id} (pid ${pid}) at ${socket}; press Ctrl-C to stop`)),
    });
    if (why !== undefined) err.line(err.paint("gray", `the host closed: ${why}`));
    return EXIT.ok;
  },
});
