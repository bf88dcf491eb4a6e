/** `creel explain --save`: writes the incident file, and says what is in it: the operator sends nothing unseen. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { findPlugin } from "../../discovery/manifest.ts";
import { bundleSource } from "../../discovery/plugin-source.ts";
import type { AuditRun } from "../../protocol/audit-line.ts";
import type { Project } from "../plugins/project.ts";
import type { Blame } from "../profile/blame.ts";
import { incidentOf, saveIncident } from "./incident.ts";
import type { Incident } from "./incident.ts";

/** Gives the lines to show. */
export async function saveRun(
  file: string,
  run: AuditRun,
  project: Project,
  blame: Blame | undefined,
  redact: readonly string[],
): Promise<string[]> {
  const id = run.calls.find(({ error }) => error)?.plugin ?? run.by ?? run.calls[0]?.plugin ?? "";
  const { plugin, root } = await codeOf(project, id);
  // The author has the files elsewhere, and where the operator has them is nobody's business.
  const local = (text: string): string => (root === undefined ? text : text.replaceAll(`${pathToFileURL(root).href}/`, ""));
  const text = blame && (await readFile(blame.path, "utf8").catch(() => undefined));
  const profile = text === undefined ? undefined : local(text);
  const [slow] = blame?.plugin === id ? blame.lines : [];
  const slowest = slow && `${local(slow.url)}:${slow.line}:1`;
  await saveIncident(file, incidentOf({ run, plugin, profile, slowest, redact }));
  const left = redact.length === 0 ? "the whole event" : `the event without ${redact.join(", ")}`;
  const version = plugin.version === undefined ? "" : ` ${plugin.version}`;
  return [
    `${file}: run ${run.runId}, ${left}, ${id}${version}${profile === undefined ? "" : ", a profile"}`,
    "read it before you send it; its author opens it with: creel dev <folder> --incident <file>",
  ];
}

interface Code {
  readonly plugin: Incident["plugin"];
  /** Where its sources are; undefined: it is installed as a bundle. */
  readonly root?: string;
}

/** An installed plugin is in the lock; one that the configuration loads by its path is bundled to know its digest. */
async function codeOf({ state, config, base }: Project, id: string): Promise<Code> {
  const entry = (await state.read()).get(id);
  if (entry) return { plugin: { id, version: entry.version, digest: entry.bundle.integrity } };
  for (const path of config.plugins?.load?.paths ?? []) {
    const found = await findPlugin(resolve(base, path)).catch(() => undefined);
    if (found?.manifest.id !== id) continue;
    const bundle = await bundleSource({ path: resolve(base, path) }, false).catch(() => undefined);
    const { version } = found.manifest;
    return { root: found.root, plugin: { id, ...(version !== undefined && { version }), ...(bundle && { digest: bundle.digest }) } };
  }
  return { plugin: { id } };
}
