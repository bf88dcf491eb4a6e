/** `creel check`: finds problems of a plugin before it is installed. */
import { UsageError } from "../../options.ts";
import { printableJson } from "../../ui/text.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const check = defineVerb({
  name: "check",
  summary: "bundles a plugin, checks its types against what the sandbox provides, and loads it in a sandbox without grants",
  takes: "<folder or file>",
  options: {
    types: {
      type: "string",
      choices: ["auto", "none", "required"],
      help: "check types: if TypeScript is found (auto, the default), never, or always",
    },
  },
  examples: [
    "creel check ./my-plugin",
    "creel check ./my-plugin --types none",
    "creel check ./my-plugin --json | jq '.problems[].message'",
  ],
  prints:
    "what was found: `id`, `hooks`, `bundleBytes`, `types`, `permissions` that it requests, `unrequested` (those that its code seems to need beside them), `problems` (each with `step`, `message`, `at`, `fix`) and `remarks`",
  exits: { ok: "it runs in the sandbox", failed: "there are problems" },
  async run({ values, positionals, isJson, out }) {
    const [path, extra] = positionals;
    if (path === undefined || extra !== undefined)
      throw new UsageError("check takes one plugin, as a folder or a file", 'such as "creel check ./my-plugin"');
    const { examine } = await import("../../check/examine.ts");
    const { page } = await import("../../check/page.ts");
    const findings = await examine(path, values.types ?? "auto");
    if (isJson) out.line(printableJson(findings, 2));
    else page(findings, out);
    if (!isJson && findings.problems.length === 0) {
      const { sampleOf } = await import("../../call/input.ts");
      const { commandLine, next } = await import("../../self.ts");
      const called = findings.hooks.map(({ hook }) => ({ hook, event: sampleOf(hook) })).find(({ event }) => event !== undefined);
      next(out, called ? commandLine(["call", called.hook], { plugin: path, event: called.event }) : commandLine(["install", path]));
    }
    return findings.problems.length === 0 ? EXIT.ok : EXIT.failed;
  },
});
