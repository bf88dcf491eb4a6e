/** `creel init`: a new plugin whose own test passes at once. */
import { PROJECT_OPTIONS } from "../../plugins/options.ts";
import { UsageError } from "../../options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const init = defineVerb({
  name: "init",
  summary: "creates a plugin: manifest, source, a test in the real sandbox, types of the sandbox",
  takes: "[folder]",
  options: {
    name: { type: "string", value: "id", help: "the plugin's id (default: the folder's name)" },
    hook: { type: "string", value: "hook", help: "the hook it listens to (default: before_tool_call)" },
    kind: { type: "string", choices: ["gate", "modify", "observe", "turn", "tool", "hook-md"], help: "what it is (default: gate)" },
    "from-openclaw": {
      type: "string",
      value: "folder",
      help: "an OpenClaw plugin: declares its hooks, and the permissions that it has used here or that its code needs",
    },
    ...PROJECT_OPTIONS,
  },
  examples: [
    "creel init my-plugin",
    "creel init counter --kind tool",
    "creel init moved --from-openclaw ./my-openclaw-plugin",
    "creel init ./plugins/sign-off --name sign-off --hook message_sending",
  ],
  prints: "`id`, `hook`, `folder`, the `files` that were written, and the commands to go on with as `next`",
  exits: { ok: "the files are there", failed: "they could not be written" },
  async run({ values, positionals, isJson, out }) {
    const [folder = ".", extra] = positionals;
    if (extra !== undefined) throw new UsageError("init takes one folder", 'such as "creel init my-plugin"');
    if (values.kind !== undefined && values.hook !== undefined)
      throw new UsageError("a kind has its own hook", "give --kind or --hook, not both");
    const from = values["from-openclaw"];
    if (from !== undefined) {
      const { takeOver } = await import("../../init/from-openclaw.ts");
      const { usageWhere } = await import("../../init/usage.ts");
      const taken = await takeOver(from, positionals[0] ?? from, (id) => usageWhere(values, id));
      if (isJson) out.line(JSON.stringify(taken, undefined, 2));
      else {
        out.line(`${out.paint("bold", taken.id)} listens to ${taken.hooks.join(", ") || "no hook"}`);
        out.line(`  ${out.paint("green", "+")} ${taken.file}`);
        const basis = taken.from === "use" ? "by what it has used" : "by its code";
        out.line(`  requests ${taken.permissions.join(", ") || "nothing"}, ${basis}; write the reasons into the manifest`);
        for (const remark of taken.remarks) out.line(`  ${out.paint("yellow", "!")} ${remark}`);
      }
      return EXIT.ok;
    }
    const { begin } = await import("../../init/begin.ts");
    const { HOOK_OF } = await import("../../init/kinds.ts");
    const begun = await begin(folder, values.name, values.hook ?? (values.kind && HOOK_OF[values.kind]), values.kind);
    if (isJson) out.line(JSON.stringify({ ...begun, next: begun.next.map(({ command }) => command) }, undefined, 2));
    else {
      out.line(`${out.paint("bold", begun.id)} listens to ${begun.hook}`);
      for (const file of begun.files) out.line(`  ${out.paint("green", "+")} ${file}`);
      out.line();
      out.line("Next:");
      for (const { command, what } of begun.next) {
        if (what !== "") out.line(out.paint("gray", `  # ${what}`));
        out.line(`  ${command}`);
      }
    }
    return EXIT.ok;
  },
});
