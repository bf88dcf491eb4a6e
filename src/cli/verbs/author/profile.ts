/** `creel profile`: which lines of a plugin take the CPU time of a call, or what its memory is full of. */
import { CALL_OPTIONS } from "../../call/options.ts";
import { UsageError } from "../../options.ts";
import { printable } from "../../ui/text.ts";
import { defineVerb, EXIT } from "../../verb.ts";

const { event, ctx, config, approve } = CALL_OPTIONS;

export const profile = defineVerb({
  name: "profile",
  summary: "runs a hook once with V8's profiler: the author's lines where CPU time or memory went, and a file for DevTools",
  takes: "<folder or file>",
  options: {
    hook: { type: "string", value: "hook", help: "the hook to run (default: the first that the plugin listens to)" },
    event: { ...event, help: `${event.help} (default: the smallest valid one)` },
    ctx,
    cpu: { type: "boolean", help: "profile CPU time (the default)" },
    heap: { type: "boolean", help: "profile memory: the constructors of which there are more after the call" },
    out: { type: "string", value: "path", help: "write a .cpuprofile or .heapsnapshot for Chrome DevTools there" },
    config,
    approve,
  },
  examples: [
    "creel profile ./my-plugin --event @event.json",
    "creel profile ./my-plugin --hook message_sending --out slow.cpuprofile",
    "creel profile ./my-plugin --heap --out memory.heapsnapshot",
  ],
  prints:
    "`totalMs`, `isCut`, `lines`; with `--heap`, `beforeBytes`, `afterBytes`, `isCut`, `stack` and `grew`; and `file`, if one was written",
  exits: { ok: "the hook was run", failed: "the plugin does not load, or cannot be profiled" },
  async run({ values, positionals, isJson, out }) {
    const [path, extra] = positionals;
    if (path === undefined || extra !== undefined)
      throw new UsageError("profile takes one plugin, as a folder or a file", 'such as "creel profile ./my-plugin"');
    if (values.cpu && values.heap) throw new UsageError("a profile is of CPU time or of memory", "give --cpu or --heap, not both");
    const { exampleOf, findHook, readInput } = await import("../../call/input.ts");
    const { firstHook, profileCallCpu, profileCallHeap } = await import("../../profile/profile.ts");
    const { cpuLines, heapLines } = await import("../../profile/page.ts");
    const { writeFile } = await import("node:fs/promises");
    const options = { path, config: values.config, approval: values.approve };
    const hook = findHook(values.hook ?? (await firstHook(options)), undefined);
    const input = await readInput(hook, values.event ?? JSON.stringify(exampleOf(hook)), values.ctx);
    const made = values.heap ? await profileCallHeap(options, input) : await profileCallCpu(options, input);
    const { file: content, ...shown } = made;
    if (values.out !== undefined) await writeFile(values.out, content);
    if (isJson) out.line(printable({ ...shown, file: values.out }, 2));
    else {
      if ("grew" in made) heapLines(made, out);
      else cpuLines(made, out);
      if (values.out !== undefined) out.line(out.paint("gray", `${values.out}: open it in Chrome DevTools`));
    }
    return EXIT.ok;
  },
});
