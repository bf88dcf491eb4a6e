/** `creel enable` and `creel disable`: the same, but for a word. */
import { only, PLACE } from "./options.ts";
import { defineVerb, EXIT } from "../verb.ts";
import type { Verb } from "../verb.ts";

export function switchVerb(name: "enable" | "disable"): Verb {
  const enabled = name === "enable";
  return defineVerb({
    name,
    summary: enabled
      ? "lets gateways load an installed plugin again"
      : "keeps gateways from loading an installed plugin, without removing it",
    takes: "<id>",
    options: PLACE,
    examples: [`creel ${name} weather`, `creel ${name} weather --json | jq .enabled`],
    prints:
      "`id` and `enabled`; `running`, if a `creel serve` has that state folder: a row per host, with `pid`, `socket`, `status`, `version`, `error`",
    async run({ values, positionals, isJson, out }) {
      const id = only(name, "one plugin, by its id", positionals, `creel ${name} weather`);
      const { findPlace } = await import("./place.ts");
      const { state, config } = await findPlace(values);
      await state.transaction((tx) => tx.update(id, { enabled }), { what: `creel ${name} ${id}` });
      const { tellRunning } = await import("./running.ts");
      const running = await tellRunning(state.dir, id);
      if (isJson) out.line(JSON.stringify({ id, enabled, ...(running && { running: running.rows }) }, undefined, 2));
      else {
        out.line(`${out.paint("bold", id)} is ${name}d${running ? "" : "; a gateway that runs knows when it is started again"}`);
        running?.say(out);
        if (enabled && config.plugins?.entries?.[id]?.enabled === false)
          out.line(out.paint("yellow", `! plugins.entries.${id}.enabled is false in the creel.json, which wins`));
      }
      return EXIT.ok;
    },
  });
}
