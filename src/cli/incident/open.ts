/** `creel dev --incident`: what happened at the operator's, at which line, and the event to run here. */
import { bundleSource } from "../../discovery/plugin-source.ts";
import { findPlugin } from "../../discovery/manifest.ts";
import { oneLine } from "../../text/one-line.ts";
import { whyOf } from "../../text/run-advice.ts";
import { findHook, readInput } from "../call/input.ts";
import type { CallInput } from "../call/input.ts";
import { version } from "../self.ts";
import { codeFrame } from "../ui/code-frame.ts";
import type { Terminal } from "../ui/terminal.ts";
import { readIncident } from "./incident.ts";

/** Rejects with a CreelError. SECURITY: the file is a third party's. test/cli/incident/incident.test.ts */
export async function openIncident(file: string, path: string, err: Terminal): Promise<CallInput> {
  const { plugin, run, event, context, at, creel, node, profile } = await readIncident(file);
  const { line, paint } = err;
  const { root, manifest } = await findPlugin(path);
  line(
    `${paint("bold", "incident")}  ${oneLine(run.hook)} ${oneLine(run.decision)} by ${oneLine(plugin.id)} ${oneLine(plugin.version ?? "")}`,
  );
  line(`  why       ${oneLine(whyOf(run))}`);
  line(paint("gray", `  there     creel ${oneLine(creel)}, Node ${oneLine(node)}; here creel ${version()}, Node ${process.version}`));
  if (manifest.id !== plugin.id) line(`  ${paint("yellow", "!")} this folder is ${manifest.id}`);
  const here = await bundleSource({ path }, false).catch(() => undefined);
  if (plugin.digest !== undefined && here && here.digest !== plugin.digest)
    line(`  ${paint("yellow", "!")} the code here is not the code of the incident: lines may differ`);
  if (at !== undefined) await codeFrame(root, at, err);
  if (profile !== undefined) line(paint("gray", "  it has a CPU profile"));
  return readInput(findHook(run.hook, undefined), JSON.stringify(event), JSON.stringify(context));
}
