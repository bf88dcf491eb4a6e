/** `creel enable` and `creel disable`. */
import { only, PROJECT_OPTIONS } from "../../plugins/options.ts";
import { defineVerb, EXIT } from "../../verb.ts";
import type { Verb } from "../../verb.ts";

function switchVerb(name: "enable" | "disable"): Verb {
  const enabled = name === "enable";
  return defineVerb({
    name,
    summary: enabled
      ? "lets gateways load an installed plugin again"
      : "keeps gateways from loading an installed plugin, without removing it",
    takes: "<id>",
    options: PROJECT_OPTIONS,
    examples: [`creel ${name} weather`, `creel ${name} weather --json | jq .enabled`],
    prints:
      "`id` and `enabled`; `running`, if a `creel serve` has that state folder: a row per host, with `pid`, `socket`, `status`, `version`, `error`",
    async run({ values, positionals, isJson, out }) {
      const id = only(name, "one plugin, by its id", positionals, `creel ${name} weather`);
      const { findProject } = await import("../../plugins/project.ts");
      const { state, config } = await findProject(values);
      await state.transaction((tx) => tx.update(id, { enabled }), { what: `creel ${name} ${id}` });
      const { tellRunning } = await import("../../plugins/running-hosts.ts");
      const running = await tellRunning(state.dir, id);
      if (isJson) out.line(JSON.stringify({ id, enabled, ...(running && { running: running.rows }) }, undefined, 2));
      else {
        out.line(`${out.paint("bold", id)} is ${name}d${running ? "" : "; restart running gateways to apply it"}`);
        running?.say(out);
        if (enabled && config.plugins?.entries?.[id]?.enabled === false)
          out.line(out.paint("yellow", `! plugins.entries.${id}.enabled is false in the creel.json, which overrides this`));
      }
      return EXIT.ok;
    },
  });
}

export const enable = switchVerb("enable");
export const disable = switchVerb("disable");
