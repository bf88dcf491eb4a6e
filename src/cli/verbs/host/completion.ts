/** `creel completion`: for a shell's Tab key, made of the table of verbs. */
import { suggest } from "../../../text/did-you-mean.ts";
import { UsageError } from "../../options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

export const completion = defineVerb({
  name: "completion",
  summary: "prints a script that completes verbs, options and hooks in a shell",
  takes: `<${SHELLS.join("|")}>`,
  options: {},
  examples: [`creel completion bash >> ~/.bashrc`, "creel completion fish | source"],
  prints: "`shell` and `script`",
  async run({ positionals: [given = "", extra], isJson, out, verbs }) {
    const shell = SHELLS.find((one) => one === given);
    if (!shell || extra !== undefined)
      throw new UsageError(`completion takes the name of a shell${suggest(given, SHELLS)}`, `use one of: ${SHELLS.join(", ")}`);
    const { wordsOf } = await import("../../completion/words.ts");
    const { bash } = await import("../../completion/bash.ts");
    const { zsh } = await import("../../completion/zsh.ts");
    const { fish } = await import("../../completion/fish.ts");
    const script = { bash, zsh, fish }[shell](wordsOf(verbs));
    out.line(isJson ? JSON.stringify({ shell, script }, undefined, 2) : script.trimEnd());
    return EXIT.ok;
  },
});
