/**
 * Both gateway and bundler child process: their messages, framed as between host and lane (transport/frames.ts). The
 * child parses untrusted text with a native parser, so the gateway checks its answers as if the plugin had sent them.
 */
import * as z from "zod";

export interface BundleRequest {
  /** The folder that names are relative to. */
  readonly cwd: string;
  /** The entry file. With a text, only its name. */
  readonly input: string;
  /** The plugin's folder: its files may be read, and those of packages. Without it, only those of packages. */
  readonly root?: string;
  /** Whether the whole folder is the plugin's. If not, only what it imports from there is. */
  readonly ownsRoot?: boolean;
  /** A name that the text may import, and the file it stands for. */
  readonly alias?: { readonly name: string; readonly path: string };
  /** The body is the text of the entry. */
  readonly hasText: boolean;
  /** Whether to report what the code reveals. */
  readonly scans?: boolean;
  /** The bundle leaves this machine: no comment in it names a path, which would also differ between machines. */
  readonly isPortable?: boolean;
  /** For debuggers: each of the author's variables and statements is kept, also those that could be folded away. */
  readonly isLiteral?: boolean;
  /** The body is a finished bundle, from `creel pack`: it is scanned, and not built. `input` is its name. */
  readonly isBuilt?: true;
}

/**
 * A Node module or native addon that the bundle requires: without `node:`, and with its importers, as names of the
 * plugin's files and packages.
 */
export const builtin = z.object({
  name: z.string().max(128),
  importers: z.array(z.string().max(256)).max(8),
  /**
   * `import`: its importer cannot load without it. `require`: the same for a CommonJS file, as far as its text tells.
   * `late`: it may never be requested.
   */
  needed: z.enum(["import", "require", "late"]),
  /** A stub takes its place, which throws when it is used. */
  isStub: z.boolean().optional(),
  /** Where its first importer uses it. */
  line: z.int().positive().optional(),
});
export type Builtin = z.infer<typeof builtin>;

export const SEVERITIES = ["info", "warn", "critical"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** The size limits of a scan. The worst findings come first. */
export const SCAN_LIMITS = { origins: 200, env: 100, uses: 16, findings: 300, fileChars: 256 } as const;

const place = { file: z.string().max(SCAN_LIMITS.fileChars), line: z.int().positive() };
/** What the code of a bundle reveals: all its modules, with file and line as the author knows them. */
export const bundleScan = z.object({
  files: z.int().nonnegative(),
  /** In literals. */
  origins: z.array(z.object({ origin: z.string().max(300), ...place })).max(SCAN_LIMITS.origins),
  /** Names read from `process.env`. */
  env: z.array(z.string().max(128)).max(SCAN_LIMITS.env),
  /** What would need a grant. */
  uses: z.array(z.string().max(32)).max(SCAN_LIMITS.uses),
  findings: z
    .array(z.object({ rule: z.string().max(32), severity: z.enum(SEVERITIES), ...place, message: z.string().max(300) }))
    .max(SCAN_LIMITS.findings),
});
export type BundleScan = z.infer<typeof bundleScan>;

export const bundlerAnswer = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("ready") }),
  /** From here on, the plugin is to blame for whatever happens to the process. */
  z.object({ kind: z.literal("begun") }),
  /**
   * Bodies: the code, its source map, and the plugin's own files if its code can read them. `files`: how many were
   * read.
   */
  z.object({
    kind: z.literal("bundled"),
    files: z.int().nonnegative(),
    builtins: z.array(builtin).max(128).default([]),
    scan: bundleScan.optional(),
  }),
  /** Body: the reason. `bytes`: the bundle is too large. */
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
