/** `creel tail`: what a running host did lately, and what it does now. */
import { FACT_NAMES } from "../../../protocol/fact-names.ts";
import { UsageError } from "../../options.ts";
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
    last: { type: "string", value: "n", help: "first, the latest n facts that the host remembers: runs, rare facts, log lines" },
    once: { type: "boolean", help: "prints what the host remembers (--last, or all of it), and ends" },
    fact: { type: "string", multiple: true, choices: FACT_NAMES, help: "only facts of this kind" },
  },
  examples: [
    "creel tail",
    "creel tail --last 50",
    "creel tail --once --fact restart --fact quarantine --fact refused",
    "creel tail --plugin guard --fact call --status timeout --status failed",
    "creel tail --fact run --json | jq .fact.outcome",
  ],
  prints: "a line per fact: `{ event, at, fact }`",
  exits: { ok: "ended by Ctrl-C, or because the host ended, or with --once", failed: "no host answers there" },
  async run({ values, isJson, out, err }) {
    const { socketOf } = await import("../../serve-socket.ts");
    const { follow } = await import("../../tail/follow.ts");
    const { factLine } = await import("../../tail/line.ts");
    const { printableJson } = await import("../../ui/text.ts");
    const stop = new AbortController();
    process.once("SIGINT", () => stop.abort());
    process.once("SIGTERM", () => stop.abort());
    const { plugin: plugins, hook: hooks, status: statuses, fact: facts, once: isOnce = false } = values;
    const last = values.last === undefined ? (isOnce ? Number.POSITIVE_INFINITY : 0) : Number(values.last);
    if (!(last >= 0)) throw new UsageError(`--last cannot be "${values.last}"`, "give a number of facts, such as 50");
    const socket = await socketOf(values);
    const why = await follow({
      socket,
      filter: { plugins, hooks, statuses, facts },
      signal: stop.signal,
      last,
      isOnce,
      told: (name, fact) =>
        out.line(isJson ? printableJson({ event: name, at: new Date(fact.at).toISOString(), fact }) : factLine(name, fact, out)),
      began: ({ id, pid }) => {
        if (!isOnce) err.line(err.paint("gray", `following ${id} (pid ${pid}) at ${socket}; press Ctrl-C to stop`));
      },
    });
    if (why !== undefined) err.line(err.paint("gray", `the host closed: ${why}`));
    return EXIT.ok;
  },
});
