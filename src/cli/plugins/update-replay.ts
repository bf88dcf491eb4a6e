/** `creel update` with recordings: what would the new version have decided about recorded runs? Offered, or shown with --replay. */
import type { PluginBundle } from "../../bundler/bundle.ts";
import { replay } from "../../replay/replay.ts";
import type { ReplayReport } from "../../replay/replay.ts";
import { Recordings } from "../../state/recordings.ts";
import { replayPage } from "../replay/page.ts";
import type { Terminal } from "../ui/terminal.ts";
import type { Project } from "./project.ts";

export interface UpdateReplay {
  readonly id: string;
  readonly bundle: PluginBundle;
  readonly isWanted: boolean;
  readonly terminal: Terminal;
}

/** Undefined: nothing was replayed. The plugin keeps the grants that it has. */
export async function replayUpdate(
  { config, base, state }: Project,
  { id, bundle, isWanted, terminal }: UpdateReplay,
): Promise<ReplayReport | undefined> {
  const recordings = new Recordings(state.dir);
  if (await recordings.isEmpty()) {
    if (isWanted) terminal.line("There is no recording to replay: record.enabled of creel.json makes them.");
    return undefined;
  }
  if (!isWanted) {
    terminal.line(
      terminal.paint("gray", `Runs were recorded: "creel update ${id} --replay" shows which decisions this version would change.`),
    );
    return undefined;
  }
  const report = await replay(
    recordings.runs(),
    { config, base, stateDir: state.dir },
    { plugins: { [id]: { bundle: async () => bundle } } },
  );
  terminal.line();
  terminal.line(terminal.paint("bold", "Recorded runs, with this version"));
  replayPage(report, true, terminal);
  return report;
}
