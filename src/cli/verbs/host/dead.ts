/** `creel dead`: the events of durable hooks that were given up. It needs no host that runs. */
import { PROJECT_OPTIONS } from "../../plugins/options.ts";
import { UsageError } from "../../options.ts";
import type { DeadLetter } from "../../dead/dead-letters.ts";
import { defineVerb, EXIT } from "../../verb.ts";

const ACTIONS = ["list", "show", "replay", "drop"] as const;
const FIX = 'such as "creel dead list" or "creel dead replay --plugin temporal-signal"';

export const dead = defineVerb({
  name: "dead",
  summary: "lists, shows, delivers again or drops events of durable hooks that were given up",
  takes: "list|show|replay|drop [id]",
  options: {
    plugin: { type: "string", value: "id", help: "only of this plugin" },
    all: { type: "boolean", help: "replay, drop: all of them" },
    ...PROJECT_OPTIONS,
  },
  examples: [
    "creel dead list",
    "creel dead show m1qiRPQiOj8f4GEi",
    "creel dead replay m1qiRPQiOj8f4GEi",
    "creel dead replay --plugin temporal-signal",
    "creel dead drop --all",
    "creel dead list --json | jq '.[] | {id, plugin, why}'",
  ],
  prints:
    "list: a list with `id`, `plugin`, `hook`, `session`, `attempts`, `madeAt`, `diedAt`, `status`, `why`; show: the same with `event` and `context`; replay and drop: `replayed` or `dropped`, a number",
  exits: { ok: "done", failed: "no event has that id" },
  async run({ values, positionals, isJson, out }) {
    const [word = "list", id, extra] = positionals;
    const action = ACTIONS.find((one) => one === word);
    if (action === undefined || extra !== undefined) throw new UsageError(`dead takes ${ACTIONS.join(", ")}, and an id`, FIX);
    if (action === "show" && id === undefined) throw new UsageError("dead show takes an id", FIX);
    const isChange = action === "replay" || action === "drop";
    if (isChange && id === undefined && values.plugin === undefined && values.all !== true)
      throw new UsageError(`dead ${action} takes an id, --plugin or --all`, FIX);
    const { findProject } = await import("../../plugins/project.ts");
    const { openDeadLetters } = await import("../../dead/dead-letters.ts");
    const { deadPage, letterPage } = await import("../../dead/page.ts");
    const { printableJson } = await import("../../ui/text.ts");
    const { state } = await findProject(values);
    await using letters = openDeadLetters(state.dir);
    const found = await letters.find(id, values.plugin);
    if (isChange) {
      const count = await letters[action](found);
      const said = action === "replay" ? "replayed" : "dropped";
      if (isJson) out.line(JSON.stringify({ [said]: count }));
      else out.line(action === "replay" ? `${count} will be delivered again by the host, within seconds of its start` : `${count} dropped`);
    } else if (action === "show") {
      if (isJson) out.line(printableJson(found, 2));
      else for (const letter of found) letterPage(letter, out);
    } else if (isJson) out.line(printableJson(found.map(withoutBodies), 2));
    else if (found.length === 0) out.line("no event was given up");
    else deadPage(found, out);
    return EXIT.ok;
  },
});

function withoutBodies(letter: DeadLetter): object {
  return Object.fromEntries(Object.entries(letter).filter(([name]) => name !== "event" && name !== "context"));
}
