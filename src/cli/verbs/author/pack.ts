/** `creel pack`: one file to publish or hand over, which an operator installs without building anything. */
import { UsageError } from "../../options.ts";
import { printableJson } from "../../ui/text.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const pack = defineVerb({
  name: "pack",
  summary: "makes one archive of a plugin and its packages, byte for byte reproducible, that installs without a build",
  takes: "[folder]",
  options: {
    out: { type: "string", value: "path", help: "the archive to write (default: <name>-<version>.tgz in the current folder)" },
    types: {
      type: "string",
      choices: ["auto", "none", "required"],
      help: "check types: if TypeScript is found (auto, the default), never, or always",
    },
  },
  examples: ["creel pack", "creel pack ./my-plugin --out my-plugin.tgz", "creel pack --json | jq -r .integrity"],
  prints:
    "`file`, `bytes` and `integrity` of the archive, its `files`, `own` (files that the plugin can read at run time), and `permissions` and `hooks`, which an operator will be asked about; with problems, what `creel check` prints",
  exits: { ok: "the archive was written", failed: "creel check has problems with it; nothing was written" },
  async run({ values, positionals, isJson, out }) {
    const [path = ".", extra] = positionals;
    if (extra !== undefined) throw new UsageError("pack takes one folder", 'such as "creel pack ./my-plugin"');
    const { examine } = await import("../../check/examine.ts");
    const findings = await examine(path, values.types ?? "auto");
    if (findings.problems.length > 0) {
      const { page } = await import("../../check/page.ts");
      if (isJson) out.line(printableJson(findings, 2));
      else page(findings, out);
      return EXIT.failed;
    }
    const { packInto } = await import("../../pack/pack.ts");
    const { page } = await import("../../pack/page.ts");
    const written = await packInto(path, values.out);
    if (isJson) out.line(printableJson({ ...written, hooks: findings.hooks, permissions: findings.permissions }, 2));
    else page(written, findings, out);
    return EXIT.ok;
  },
});
