/** Texts between the acts of the demo: introduction, plugins, result, and next steps. */
import { duration, wrap } from "../ui/text.ts";
import type { Terminal } from "../ui/terminal.ts";
import { version } from "../self.ts";
import { commandToPlay, FIRST_PLUGIN } from "./first-plugin.ts";
import type { Act, DemoReport } from "./step.ts";

export function opening({ line, paint, width }: Terminal): void {
  line(`${paint("bold", `creel ${version()}`)}  one turn of an agent gateway, with its hooks answered by plugins in a sandbox`);
  line();
  const honest =
    "The user, the model, the tool and the approver are scripted. The sandbox, the plugins, what they decide and every time shown are real.";
  for (const text of wrap(honest, width)) line(paint("gray", text));
}

export const titles = {
  turn({ line, paint }: Terminal, { openMs, pids }: Act): void {
    const where = pids.length > 0 ? `in a process of their own (pid ${pids.join(", ")})` : "in threads of this process";
    line();
    line(`${paint("bold", "1  The turn")}  plugins ${where}, ready in ${duration(openMs)}`);
    line();
  },
  loop({ line, paint }: Terminal, { openMs }: Act): void {
    line();
    line(`${paint("bold", "2  The same, with a plugin that never returns")}  a new host, ready in ${duration(openMs)}`);
    line();
  },
};

export function pluginTable({ line, paint }: Terminal, { plugins }: Act): void {
  for (const { id, status, hooks, lane, loadMs, error, diagnostics } of plugins) {
    const where = status === "ready" ? `lane ${lane}, loaded in ${duration(loadMs ?? 0)}` : "";
    const what = status === "ready" ? hooks.map(({ hook }) => hook).join(", ") : paint("red", status);
    line(`   ${id.padEnd(18)} ${what.padEnd(24)} ${paint("gray", where)}`);
    if (error) line(`     ${paint("red", `${error.code}: ${error.message}${error.at ? ` (${error.at})` : ""}`)}`);
    for (const diagnostic of diagnostics) line(`     ${paint("yellow", diagnostic)}`);
  }
}

export function laneLines({ line }: Terminal, { plugins }: Act): void {
  for (const [lane, members] of Map.groupBy(plugins, (plugin) => plugin.lane)) {
    line(`   lane ${lane}, one thread   ${members.map(({ id }) => id).join(", ")}`);
  }
}

export function closing({ line, paint }: Terminal, { loop, wallMs, isolation }: DemoReport): void {
  line();
  for (const { plugin, why } of loop.replaced) line(`   ${plugin}: ${why}. It got a fresh cell.`);
  line(`   Both acts took ${duration(wallMs)} in all, starting two sandboxes with ${isolation} isolation included.`);
  line();
  line(paint("bold", "3  Write your own"));
  line();
  line(`   Save this as ${paint("bold", FIRST_PLUGIN.file)}:`);
  line();
  for (const text of FIRST_PLUGIN.source.trimEnd().split("\n")) line(text === "" ? "" : `     ${paint("cyan", text)}`);
  line();
  line("   and play it in the same turn:");
  line();
  line(`     ${paint("bold", commandToPlay(FIRST_PLUGIN.file))}`);
  line();
  line(`   More to start from: ${paint("bold", "plugins-examples/README.md")}`);
}
