/** `creel bench`: what a plugin costs the gateway, compared with an empty one. */
import { UsageError } from "../../options.ts";
import { CALL_OPTIONS } from "../../call/options.ts";
import { printableJson } from "../../ui/text.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const bench = defineVerb({
  name: "bench",
  summary: "measures a plugin in the real sandbox: what each hook costs per call, compared with an empty handler",
  takes: "[folder or file]",
  options: {
    hook: { type: "string", multiple: true, value: "hook", help: "only this hook (default: all that it listens to)" },
    event: { ...CALL_OPTIONS.event, help: "the event, for one --hook: JSON, a file, or stdin (default: the smallest valid one)" },
    ctx: CALL_OPTIONS.ctx,
    config: { type: "string", value: "path", help: "a creel.json: what it grants and sets for this plugin (default: nothing is granted)" },
    isolation: CALL_OPTIONS.isolation,
    quick: { type: "boolean", help: "a quick estimate, about two seconds per hook" },
  },
  examples: [
    "creel bench ./my-plugin",
    "creel bench ./my-plugin --hook before_tool_call --event @event.json",
    "creel bench ./my-plugin --quick --json | jq '.hooks[] | {hook, ratio}'",
  ],
  prints:
    "`id`, `version`, `isolation`, `error` (it did not load), `bundleBytes`, `loadMs`, `memoryMb` (of one more such plugin), `emptyLoadMs`, `emptyMemoryMb`; `hooks`, each with `hook`, `event` (`sample` or `given`), `latency` and `empty` (`medianUs`, `p90Us`, `p99Us`, `samples`, `bins`: counts on a logarithmic axis), `ratio` of the two (`value`, `low`, `high`), `cpuUs` per call, `budget` (`cpuMs`, `wallMs`), `share` of the CPU budget, `callsPerSecond` and `emptyCallsPerSecond` with 64 in flight; `problems` (`hook`, `message`, `at`, `fix`); `machine`",
  exits: { ok: "measured", failed: "it did not load, or a call failed" },
  async run({ values, positionals, isJson, out, err }) {
    const [path = ".", extra] = positionals;
    if (extra !== undefined) throw new UsageError("bench takes one plugin, as a folder or a file", 'such as "creel bench ./my-plugin"');
    const { findHook, readInput } = await import("../../call/input.ts");
    const hooks = values.hook?.map((name) => findHook(name, undefined));
    if (values.event === undefined ? values.ctx !== undefined : hooks?.length !== 1)
      throw new UsageError("an event and its context are for one hook", "name it with --hook, and the event with --event");
    const input = values.event === undefined ? undefined : await readInput(hooks![0]!, values.event, values.ctx);
    const { benchPlugin } = await import("../../bench/plugin.ts");
    const { machine } = await import("../../bench/machine.ts");
    const { page } = await import("../../bench/page.ts");
    const { Progress } = await import("../../bench/progress.ts");
    const where = machine();
    const progress = new Progress(err);
    const findings = await benchPlugin({
      path,
      isolation: values.isolation ?? "process",
      config: values.config,
      only: hooks?.map(({ name }) => name),
      input,
      isQuick: values.quick === true,
      progress,
    });
    progress.clear();
    if (isJson) out.line(printableJson({ ...findings, machine: where }, 2));
    else page(findings, where, out);
    return findings.error || findings.problems.length > 0 ? EXIT.failed : EXIT.ok;
  },
});
