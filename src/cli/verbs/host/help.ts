/** `creel help`: the documentation where the user is: a verb, a page, a hook or an error code. */
import { UsageError } from "../../options.ts";
import { defineVerb, EXIT } from "../../verb.ts";

export const help = defineVerb({
  name: "help",
  summary: "prints a verb's help, a page of the documentation, a hook or an error code; without a topic, lists the topics",
  takes: "[topic]",
  options: {},
  examples: ["creel help", "creel help install", "creel help embedding", "creel help before_tool_call", "creel help ERR_GRANT_MISSING"],
  prints: "`topic`, `kind` (`verb`, `page`, `hook`, `error`) and `text`; without a topic, a list of `topic`, `kind` and `summary`",
  exits: { ok: "the topic was found", failed: "it could not be read" },
  async run({ positionals: [topic, extra], isJson, out, verbs }) {
    if (extra !== undefined) throw new UsageError("help takes one topic", 'such as "creel help embedding"');
    const { findTopic, topics } = await import("../../topics.ts");
    const { paged } = await import("../../ui/pager.ts");
    if (topic === undefined) {
      const all = topics(verbs);
      if (isJson) out.line(JSON.stringify(all, undefined, 2));
      else {
        const { helpOfAll, helpTable } = await import("../../help.ts");
        const pages = all.filter(({ kind }) => kind === "page").map(({ topic: name, summary }) => [name, summary] as const);
        paged(out, ({ line, paint, width }) => {
          line(helpOfAll(verbs, out));
          line();
          line(`${paint("bold", "Pages:")} creel help <page>, a hook's name, or an error code`);
          for (const row of helpTable(pages, width)) line(row);
        });
      }
      return EXIT.ok;
    }
    const found = findTopic(topic, verbs, out);
    if (isJson) out.line(JSON.stringify(found, undefined, 2));
    else paged(out, ({ line }) => line(found.text));
    return EXIT.ok;
  },
});
