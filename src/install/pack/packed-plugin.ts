/**
 * Trusted side: a plugin as `creel pack` ships it: one bundle, its source map and its data files, each with a digest in
 * the manifest. An installation runs these bytes and builds nothing. A packed plugin is as untrusted as source code:
 * anybody can write such an archive, so it is scanned and dry-run like any other.
 * SECURITY: test/install/pack/packed-plugin.test.ts
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { scanBundle } from "../../bundler/bundle.ts";
import type { PluginBundle } from "../../bundler/bundle.ts";
import type { BundleScan } from "../../bundler/messages.ts";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { oneLine } from "../../text/one-line.ts";
import { parseJson } from "../../text/parse-json.ts";
import type { Fetched } from "../fetch/fetch.ts";

/** The body of a CommonJS module, which its name tells to other tools. */
export const PACKED_BUNDLE = "bundle.cjs";
const PACKED_MAP = "bundle.cjs.map";
const PACKED_OWN = "own.json";

/** Raised when bundles of this version need something of the sandbox that others do not have. */
const PACK_FORMAT = 1;

const digest = z.string().regex(/^sha256-[A-Za-z0-9+/]{43}=$/);
const packedFacts = z.strictObject({
  format: z.literal(PACK_FORMAT),
  /** The version of Creel that made it. */
  creel: z.string().max(64),
  files: z.strictObject({ [PACKED_BUNDLE]: digest, [PACKED_MAP]: digest, [PACKED_OWN]: digest }),
});
export type PackedFacts = z.infer<typeof packedFacts>;

const ownFiles = z.array(z.tuple([z.string(), z.number(), z.string()], z.union([z.string(), z.number()])));
export type OwnFiles = z.infer<typeof ownFiles>;

const sha256 = (content: string | Uint8Array): string => `sha256-${createHash("sha256").update(content).digest("base64")}`;

/** The files of a bundle in the archive, and what the manifest says about them. */
export function packedFiles({ code, map, own }: Pick<PluginBundle, "code" | "map" | "own">, creel: string) {
  const texts = { [PACKED_BUNDLE]: code, [PACKED_MAP]: map, [PACKED_OWN]: own } as const;
  const files = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, sha256(text)])) as PackedFacts["files"];
  return { texts, facts: { format: PACK_FORMAT, creel, files } satisfies PackedFacts };
}

const refuse = (detail: string): CreelError => new CreelError("ERR_INSTALL_PACKED", { detail: oneLine(detail, 300) });

/** Whether a manifest says that the plugin was packed. */
export function isPacked(manifest: Readonly<Record<string, unknown>>): boolean {
  return manifest.packed !== undefined;
}

/** The bundle of a packed plugin, exactly as it was shipped, and what its code reveals. */
export async function readPacked(
  { root, dependencies }: Pick<Fetched, "root" | "dependencies">,
  manifest: Readonly<Record<string, unknown>>,
): Promise<{ bundle: PluginBundle; scan: BundleScan }> {
  const facts = packedFacts.safeParse(manifest.packed);
  if (!facts.success) {
    const { format } = (manifest.packed ?? {}) as { format?: unknown };
    throw refuse(
      Number.isInteger(format) && format !== PACK_FORMAT
        ? `it has format ${String(format)}, and this version of Creel reads format ${PACK_FORMAT}`
        : `its manifest is not valid at "packed.${facts.error.issues[0]!.path.join(".")}"`,
    );
  }
  if (dependencies.length > 0) throw refuse("it has dependencies, which a packed plugin has inside its bundle");
  const read = async (name: keyof PackedFacts["files"], most: number): Promise<string> => {
    const bytes = await readFile(join(root, name)).catch(() => undefined);
    if (!bytes) throw refuse(`${name} is missing`);
    if (bytes.length > most) throw refuse(`${name} has ${bytes.length} bytes, the limit is ${most}`);
    if (sha256(bytes) !== facts.data.files[name]) throw refuse(`${name} differs from its digest in the manifest`);
    const text = bytes.toString("utf8");
    // SECURITY: bytes that are not UTF-8 would change on their way into the cell, after the digest was compared.
    // test/install/pack/packed-plugin.test.ts
    if (sha256(text) !== facts.data.files[name]) throw refuse(`${name} is not UTF-8`);
    return text;
  };
  const code = await read(PACKED_BUNDLE, LIMITS.bundler.bundleBytes);
  const map = await read(PACKED_MAP, LIMITS.bundler.mapBytes);
  const own = await read(PACKED_OWN, LIMITS.plugin.packageSentChars);
  if (own !== "" && !parseJson(ownFiles, own).success) throw refuse(`${PACKED_OWN} is no list of files`);
  return scanBundle(PACKED_BUNDLE, { code, map, own });
}
