/** `creel explain --save`: writes the incident file, and says what is in it: the operator sends nothing unseen. */
import { readFile } from "node:fs/promises";
import type { AuditRun } from "../../protocol/audit-line.ts";
import type { Project } from "../plugins/project.ts";
import { incidentOf, saveIncident } from "./incident.ts";

/** Gives the lines to show. */
export async function saveRun(
  file: string,
  run: AuditRun,
  { state }: Project,
  profilePath: string | undefined,
  redact: readonly string[],
): Promise<string[]> {
  const id = run.calls.find(({ error }) => error)?.plugin ?? run.by ?? run.calls[0]?.plugin ?? "";
  const entry = (await state.read()).get(id);
  const profile = profilePath === undefined ? undefined : await readFile(profilePath, "utf8").catch(() => undefined);
  const plugin = { id, ...(entry && { version: entry.version, digest: entry.bundle.integrity }) };
  const made = incidentOf({ run, plugin, profile, redact });
  await saveIncident(file, made);
  const left = redact.length === 0 ? "the whole event" : `the event without ${redact.join(", ")}`;
  return [
    `${file}: run ${run.runId}, ${left}, ${id}${entry ? ` ${entry.version}` : ""}${profile === undefined ? "" : ", a profile"}`,
    "read it before you send it; its author opens it with: creel dev <folder> --incident <file>",
  ];
}
