/**
 * Trusted side: a bundle as files of the store, and back. A host loads an installed plugin only from these files and
 * never bundles it again, so that what runs is what was reviewed.
 */
import * as z from "zod";
import type { PluginBundle } from "../bundler/bundle.ts";
import { builtin } from "../bundler/messages.ts";
import { firstIssue } from "../text/schema-issue.ts";
import type { PluginManifest } from "../protocol/config/config.ts";
import { CreelError } from "../protocol/errors.ts";
import type { Loaded } from "./state.ts";
import { sorted } from "./lock.ts";
import { BUNDLE, MANIFEST, MAP } from "./transaction.ts";

/** What the bundler found out about the code. */
const FACTS = "bundle.json";
/** The plugin's own files, as its cell gets them. */
export const OWN = "own.json";

const facts = z.strictObject({ builtins: z.array(builtin), readsFiles: z.boolean() });

export function bundleFiles({ code, map, builtins, readsFiles, own }: PluginBundle, manifest: PluginManifest): Map<string, Uint8Array> {
  const texts = {
    [BUNDLE]: code,
    [MAP]: map,
    [MANIFEST]: json(manifest),
    [FACTS]: json({ builtins: [...builtins], readsFiles } satisfies z.input<typeof facts>),
    [OWN]: own,
  };
  return new Map(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text)]));
}

export function bundleOf({ entry, code, map, files, folder }: Loaded): PluginBundle {
  const parsed = facts.safeParse(JSON.parse(files.get(FACTS)?.toString() ?? "null"));
  const own = files.get(OWN)?.toString();
  // The files are intact, but another version of Creel installed them.
  const refuse = (file: string, detail: string) =>
    new CreelError("ERR_STATE_CHANGED", { plugin: entry.id, file: `${folder}/${file}`, detail });
  if (!parsed.success) {
    const { field, detail } = firstIssue(parsed.error);
    throw refuse(FACTS, `was written by another version of Creel (${field}: ${detail})`);
  }
  if (own === undefined) throw refuse(OWN, "is missing: another version of Creel installed the plugin");
  return { code, map, bytes: entry.bundle.bytes, digest: entry.bundle.integrity, ...parsed.data, own };
}

const json = (value: unknown): string => `${JSON.stringify(sorted(value), undefined, 2)}\n`;
