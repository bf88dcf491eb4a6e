/**
 * What the gateway and a bundler process say to each other, framed as between host and lane (protocol/frame.ts). The process reads
 * strangers' texts with a native parser, so its answers are checked as if the plugin had sent them.
 */
import * as z from "zod";

export type BundleRequest =
  | {
      readonly kind: "plugin";
      /** Where names are relative to. */
      readonly cwd: string;
      /** The entry file; if there is a text, only its name. */
      readonly input: string;
      /** The plugin's folder: its files may be read, and those of packages. Without one, only those of packages. */
      readonly root?: string;
      /** Is the folder the plugin's own, with all that is in it? Otherwise only what it imports of it is. */
      readonly ownsRoot?: boolean;
      /** A name that the text may import, and the file that it means. */
      readonly alias?: { readonly name: string; readonly path: string };
      /** The entry's text is the body. */
      readonly hasText: boolean;
      /** Is it to be said what its code shows? */
      readonly scans?: boolean;
    }
  /** The bootstrap that runs in every isolate: our own text. */
  | { readonly kind: "guest" };

/** One of Node's modules, or a native addon, that the bundle requires: without `node:`, and who imports it, as names of the plugin's files and packages. */
export const builtin = z.object({
  name: z.string().max(128),
  importers: z.array(z.string().max(256)).max(8),
  /** `import`: whoever imports it cannot be loaded without it. `require`: the same, of a CommonJS file, as far as its text tells. `late`: it may never be asked for. */
  needed: z.enum(["import", "require", "late"]),
});
export type Builtin = z.infer<typeof builtin>;

export const SEVERITIES = ["info", "warn", "critical"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** How much a scan may say. The worst is said first. */
export const SCAN_LIMITS = { origins: 200, env: 100, uses: 16, findings: 300, fileChars: 256 } as const;

const place = { file: z.string().max(SCAN_LIMITS.fileChars), line: z.int().positive() };
/** What the code of a bundle shows: all modules of it, with the file and line as its author knows them. */
export const bundleScan = z.object({
  files: z.int().nonnegative(),
  /** In literals. */
  origins: z.array(z.object({ origin: z.string().max(300), ...place })).max(SCAN_LIMITS.origins),
  /** Names read of `process.env`. */
  env: z.array(z.string().max(128)).max(SCAN_LIMITS.env),
  /** What it would need a grant for. */
  uses: z.array(z.string().max(32)).max(SCAN_LIMITS.uses),
  findings: z
    .array(z.object({ rule: z.string().max(32), severity: z.enum(SEVERITIES), ...place, message: z.string().max(300) }))
    .max(SCAN_LIMITS.findings),
});
export type BundleScan = z.infer<typeof bundleScan>;
export type ScanFinding = BundleScan["findings"][number];

export const bundlerAnswer = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("ready") }),
  /** From here on, whatever happens to the process is the plugin's doing. */
  z.object({ kind: z.literal("begun") }),
  /** Bodies: the code, its source map, and the plugin's own files if its code can read them. `files`: how many were read for it. */
  z.object({
    kind: z.literal("bundled"),
    files: z.int().nonnegative(),
    builtins: z.array(builtin).max(128).default([]),
    scan: bundleScan.optional(),
  }),
  /** Body: why. `bytes`: the bundle is too large. */
  z.object({ kind: z.literal("refused"), bytes: z.int().nonnegative().optional() }),
]);
export type BundlerAnswer = z.infer<typeof bundlerAnswer>;

const flatMap = z.object({
  version: z.literal(3),
  sources: z.array(z.string().nullable()),
  names: z.array(z.string()).optional(),
  mappings: z.string(),
});
/** A bundle of several scripts has a map in sections. */
const sectionedMap = z.object({
  version: z.literal(3),
  sections: z.array(z.object({ offset: z.object({ line: z.int().nonnegative(), column: z.int().nonnegative() }), map: flatMap })),
});
export const sourceMap = z.union([flatMap, sectionedMap]);
export type SourceMapJson = z.infer<typeof sourceMap>;
