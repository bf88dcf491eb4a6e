/** What is not as it was when a plugin was moved: the shim, the native copy, the plugin in Creel, Creel itself; or that it is in quarantine. */
import { existsSync } from "node:fs";
import { QuarantineFile } from "../../host/blame/quarantine-file.ts";
import { silentLogger } from "../../host/report/silent-logger.ts";
import { policyOf } from "../../openclaw/closed-hook.ts";
import { checkShim, shimFilesOf } from "../../openclaw/shim-files.ts";
import type { NativeManifest } from "../../openclaw/shim-files.ts";
import type { Project } from "../plugins/project.ts";
import { version } from "../self.ts";
import { folderDigest } from "./candidates.ts";
import type { Candidate } from "./candidates.ts";
import { bridgePath } from "./shim-of.ts";

/** In words, each with what to do; empty: nothing has changed, and it serves. */
export async function driftOf({ id, state: place, facts, shimDir }: Candidate, { state, config }: Project): Promise<string[]> {
  if (place === "native" || shimDir === undefined) return [];
  const again = `"creel openclaw move ${id}" writes it again`;
  if (!facts) return [`its shim cannot be read: ${again}`];
  const found: string[] = [];
  const entry = (await state.read()).get(id);
  if (!entry) return [`Creel does not have it any more, its gates are shut: "creel openclaw back ${id}" or "creel openclaw move ${id}"`];
  const { manifest } = await state.loadEntry(entry);
  const fault = checkShim(shimDir, shimFilesOf(facts, Object(manifest) as NativeManifest));
  if (fault !== undefined) found.push(`its shim was changed by hand (${fault}): ${again}`);
  if (!existsSync(facts.bridge)) found.push(`${facts.bridge} is missing, its gates are shut: ${again}`);
  else if (facts.bridge !== bridgePath() || facts.creel !== version())
    found.push(`its shim is for Creel ${facts.creel} at another place: ${again}`);
  if (facts.pluginVersion !== entry.version)
    found.push(`Creel has version ${entry.version ?? "unknown"}, the shim is for ${facts.pluginVersion ?? "unknown"}: ${again}`);
  const isRequired = config.plugins?.entries?.[id]?.required ?? entry.permissions.required ?? false;
  const changed = facts.hooks.find(({ hook, failure }) => policyOf(hook, isRequired, config.hooks?.failure?.[hook]) !== failure);
  if (changed) found.push(`what a failure of its ${changed.hook} means has changed, and its shim does not know it: ${again}`);
  if (!entry.enabled) found.push(`it is disabled in Creel, its gates are shut: "creel enable ${id}"`);
  const kept = new QuarantineFile(state.dir, silentLogger).read().get(id);
  if (kept?.state === "quarantined")
    found.push(`Creel's breaker keeps it out, its gates are shut (${kept.why}): "creel openclaw release ${id}" lets it in again`);
  if (facts.native && folderDigest(facts.native.dir) !== facts.native.digest)
    found.push(
      `the native copy was updated or removed since; the sandbox runs the version before: "creel openclaw move ${id}" takes it in`,
    );
  return found;
}
