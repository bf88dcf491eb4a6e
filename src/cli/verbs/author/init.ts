/** `creel init`: a new plugin whose own test passes at once. */
import { UsageError } from "../../options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const init = defineVerb({
  name: "init",
  summary: "creates a plugin: manifest, source, a test in the real sandbox, types of the sandbox",
  takes: "[folder]",
  options: {
    name: { type: "string", value: "id", help: "the plugin's id (default: the folder's name)" },
    hook: { type: "string", value: "hook", help: "the hook it listens to (default: before_tool_call)" },
  },
  examples: ["creel init my-plugin", "creel init ./plugins/sign-off --name sign-off --hook message_sending"],
  prints: "`id`, `hook`, `folder`, the `files` that were written, and the commands to go on with as `next`",
  exits: { ok: "the files are there", failed: "they could not be written" },
  async run({ values, positionals, isJson, out }) {
    const [folder = ".", extra] = positionals;
    if (extra !== undefined) throw new UsageError("init takes one folder", 'such as "creel init my-plugin"');
    const { begin } = await import("../../init/begin.ts");
    const begun = await begin(folder, values.name, values.hook);
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
