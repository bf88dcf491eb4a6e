/** `creel fleet`, or `creel --fleet <verb>`: hosts on several machines as one. */
import { FACT_NAMES } from "../../../protocol/fact-names.ts";
import { UsageError } from "../../options.ts";
import { PROJECT_OPTIONS } from "../../plugins/options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

const ACTIONS = ["keys", "list", "inspect", "release", "tail", "explain", "audit", "dead", "push", "pull", "doctor"] as const;

export const fleet = defineVerb({
  name: "fleet",
  summary:
    "shows and changes the hosts of a fleet; creel --fleet install, update, uninstall, enable, disable and permissions change all of them",
  takes: "<keys|list|inspect|release|tail|explain|audit|dead|push|pull|doctor> [id]",
  options: {
    ...PROJECT_OPTIONS,
    host: { type: "string", multiple: true, value: "name", help: "keys: a host of the new fleet; audit: only of this host" },
    gateway: { type: "string", multiple: true, value: "name", help: "keys: a gateway whose runs the hosts judge" },
    operator: { type: "string", value: "name", help: "keys: its operator" },
    tenant: { type: "string", value: "name", help: "keys: the account of the server (default: CREEL)" },
    out: { type: "string", value: "folder", help: "keys: where to write them (default: ./fleet)" },
    replicas: { type: "string", value: "count", help: "push: on how many servers a new lock is kept (default: one per server, at most 3)" },
    after: { type: "string", value: "number", help: "audit: only what was shipped after this number" },
    fact: { type: "string", multiple: true, choices: FACT_NAMES, help: "tail: only facts of this kind" },
    plugin: { type: "string", multiple: true, value: "id", help: "tail, dead: only what concerns this plugin" },
    all: { type: "boolean", help: "dead replay, dead drop: all of them" },
  },
  examples: [
    "creel fleet keys --host web-1 --host web-2 --operator ann",
    "creel fleet list",
    "creel fleet push",
    "creel fleet inspect weather",
    "creel fleet tail --fact run",
    "creel fleet audit --after 1200",
    "creel fleet dead show m1qiRPQiOj8f4GEi",
    "creel fleet doctor",
  ],
  prints:
    "keys: `folder`, `files`, `operator`; list: a row per host; inspect, release, explain: a row per host with `host`, `ok`, `error`; push: `serial`, `repaired`, `tookMs`, `hosts`; pull: `serial`; doctor: `checks`, `isSound`; tail: a line per fact; dead: as `creel dead`, with `host`; audit: a line per line of a host's log with `number`, `host` and `line` ([audit.md](audit.md)), or `gap` where something is missing",
  exits: { ok: "every host did it", failed: "a host did not, or none is there; audit: something is missing" },
  async run({ values, positionals, isJson, out, err }) {
    const [word, id, extra] = positionals;
    const action = ACTIONS.find((name) => name === word);
    if (action === "dead") {
      const { asOperator } = await import("../../fleet/join.ts");
      await using joined = await asOperator(values.config, false);
      const { operator, settings } = joined;
      const { dead } = await import("../../fleet/dead.ts");
      return await dead({ operator, name: settings.name, words: positionals.slice(1), values, isJson, out });
    }
    if (!action || extra !== undefined) throw new UsageError(`fleet takes one of ${ACTIONS.join(", ")}`, 'such as "creel fleet list"');
    const needsId = action === "inspect" || action === "release" || action === "explain";
    if (needsId !== (id !== undefined))
      throw new UsageError(
        `fleet ${action} takes ${needsId ? "an id" : "no id"}`,
        `such as "creel fleet ${action}${needsId ? " weather" : ""}"`,
      );
    const { page } = await import("../../fleet/page.ts");
    if (action === "keys") {
      const { host: hosts = [], gateway: gateways = [], operator } = values;
      if (hosts.length === 0 || operator === undefined)
        throw new UsageError("fleet keys needs hosts and an operator", 'such as "creel fleet keys --host web-1 --operator ann"');
      const { makeKeys } = await import("../../fleet/keys.ts");
      page.keys(await makeKeys(values.out ?? "fleet", hosts, gateways, operator, values.tenant ?? "CREEL"), isJson, out);
      return EXIT.ok;
    }
    if (action === "push") return (await import("../../fleet/push.ts")).push(values, out, isJson);
    if (action === "pull") return (await import("../../fleet/pull.ts")).pull(values, out, isJson);
    const { asOperator } = await import("../../fleet/join.ts");
    await using joined = await asOperator(values.config);
    const { operator, settings } = joined;
    if (action === "tail") {
      const stop = new AbortController();
      process.once("SIGINT", () => stop.abort());
      process.once("SIGTERM", () => stop.abort());
      err.line(err.paint("gray", `following ${operator.hosts().length} hosts; press Ctrl-C to stop`));
      await operator.follow({ facts: values.fact, plugins: values.plugin }, stop.signal, (host, fact, event) =>
        page.fact(host, fact, event, isJson, out),
      );
      return EXIT.ok;
    }
    if (action === "audit") return await (await import("../../fleet/audit.ts")).audit(operator, values, isJson, out, err);
    if (action === "doctor") {
      const checks = await (await import("../../fleet/doctor.ts")).examineFleet(operator, settings);
      return page.checks(checks, isJson, out) ? EXIT.ok : EXIT.failed;
    }
    if (action === "list") return page.hosts(operator.hosts(), isJson, out) ? EXIT.ok : EXIT.failed;
    const method = action === "explain" ? "runDetail" : action;
    const answers =
      action === "release"
        ? await operator.release(id!)
        : await operator.ask(method, action === "explain" ? { runId: id } : { plugin: id });
    return page.answers(action === "explain" ? answers.filter(({ ok, error }) => ok || error) : answers, isJson, out)
      ? EXIT.ok
      : EXIT.failed;
  },
});
