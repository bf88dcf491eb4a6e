/** `creel profile`: which lines of a plugin take the CPU time of a call, or what its memory is full of. */
import { existsSync } from "node:fs";
import type { CpuProfile } from "../../../host/inspect/cpu-profile.ts";
import type { HeapProfile } from "../../../host/inspect/heap-profile.ts";
import type { ApprovalDecision } from "../../../protocol/hooks/tool.ts";
import type { CallInput } from "../../call/input.ts";
import { CALL_OPTIONS } from "../../call/options.ts";
import { UsageError } from "../../options.ts";
import { printableJson } from "../../ui/text.ts";
import { defineVerb, EXIT } from "../../verb.ts";

const { event, ctx, config, grant, approve } = CALL_OPTIONS;

export const profile = defineVerb({
  name: "profile",
  summary: "runs a hook once with V8's profiler: the author's lines where CPU time or memory went, and a file for DevTools",
  takes: "<folder, file or id>",
  options: {
    hook: { type: "string", value: "hook", help: "the hook to run (default: the first that the plugin listens to)" },
    event: { ...event, help: `${event.help} (default: the smallest valid one)` },
    ctx,
    cpu: { type: "boolean", help: "profile CPU time (the default)" },
    heap: { type: "boolean", help: "profile memory: the constructors of which there are more after the call" },
    "from-run": { type: "string", value: "run", help: "the event of a past run: its id in the audit log or the recordings" },
    out: { type: "string", value: "path", help: "write a .cpuprofile or .heapsnapshot for Chrome DevTools there" },
    config,
    grant,
    "state-dir": { type: "string", value: "path", help: "where an installed plugin and --from-run are looked up" },
    approve,
  },
  examples: [
    "creel profile ./my-plugin --event @event.json",
    "creel profile ./my-plugin --hook message_sending --out slow.cpuprofile",
    "creel profile ./my-plugin --heap --out memory.heapsnapshot",
    "creel profile weather --heap --from-run h5e81f140-17 --out memory.heapsnapshot",
  ],
  prints:
    "`totalMs`, `isCut`, `lines`; with `--heap`, `beforeBytes`, `afterBytes`, `isCut`, `stack` and `grew`; and `file`, if one was written",
  exits: { ok: "the hook was run", failed: "the plugin does not load, or cannot be profiled" },
  async run({ values, positionals, isJson, out }) {
    const [path, extra] = positionals;
    if (path === undefined || extra !== undefined)
      throw new UsageError(
        "profile takes one plugin, as a folder, a file or the id of an installed one",
        'such as "creel profile ./my-plugin"',
      );
    if (values.cpu && values.heap) throw new UsageError("a profile is of CPU time or of memory", "give --cpu or --heap, not both");
    const { cpuLines, heapLines } = await import("../../profile/page.ts");
    const { writeFile } = await import("node:fs/promises");
    const made = await profiled(path, values);
    const { file: content, ...shown } = made;
    if (values.out !== undefined) await writeFile(values.out, content);
    if (isJson) out.line(printableJson({ ...shown, file: values.out }, 2));
    else {
      if ("grew" in made) heapLines(made, out);
      else cpuLines(made, out);
      if (values.out !== undefined) out.line(out.paint("gray", `${values.out}: open it in Chrome DevTools`));
    }
    return EXIT.ok;
  },
});

interface Values {
  readonly hook?: string;
  readonly event?: string;
  readonly ctx?: string;
  readonly heap?: boolean;
  readonly "from-run"?: string;
  readonly config?: string;
  readonly grant?: readonly string[];
  readonly "state-dir"?: string;
  readonly approve?: ApprovalDecision;
}

/** A path is called alone; an id with its neighbours, as they are installed, on a copy of the state and without consequences. */
async function profiled(path: string, values: Values): Promise<CpuProfile | HeapProfile> {
  const { firstHook, installedHook, profileCallCpu, profileCallHeap, profileInstalled } = await import("../../profile/profile.ts");
  const { exampleOf, findHook, readInput } = await import("../../call/input.ts");
  const { pastInput } = await import("../../incident/past-input.ts");
  const { "from-run": runId, heap: isHeap = false } = values;
  const inputOf = async (first: () => Promise<string | undefined>): Promise<CallInput> => {
    if (runId !== undefined) return pastInput(runId, values);
    const name = values.hook ?? (await first());
    if (name === undefined)
      throw new UsageError(
        "the plugin listens to no hook, and only hooks are profiled",
        'name a hook with --hook, or measure a tool with "creel call tool:<name>"',
      );
    const hook = findHook(name, undefined);
    return readInput(hook, values.event ?? JSON.stringify(exampleOf(hook)), values.ctx);
  };
  if (existsSync(path)) {
    const options = { path, config: values.config, approval: values.approve, permissions: values.grant };
    const input = await inputOf(() => firstHook(options));
    return isHeap ? profileCallHeap(options, input) : profileCallCpu(options, input);
  }
  const { findProject } = await import("../../plugins/project.ts");
  const project = await findProject(values);
  return profileInstalled(project, path, await inputOf(() => installedHook(project, path)), isHeap);
}
