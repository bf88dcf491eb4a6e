/**
 * Bundler child process: turns a plugin's TypeScript or JavaScript and its pure-JS dependencies into one script with a
 * source map. The only file that bundles. A module that the sandbox does not have stays a `require`, which fails inside
 * the cell and names it.
 */
import { isBuiltin } from "node:module";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import type { OutputAsset, OutputChunk, OutputOptions, RolldownPlugin } from "rolldown";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { isNative } from "../../protocol/guest-surface/absent.ts";
import { STUB } from "../../protocol/guest-surface/stub.ts";
import { absentImports, isAbsent } from "./absent-imports.ts";
import { Fence, largestOf, packageOfPath } from "./fence.ts";
import { Imports, readsFiles } from "../imports.ts";
import { joinChunks } from "./join.ts";
import type { Builtin, BundleRequest, BundleScan } from "../messages.ts";
import { placed } from "./meta.ts";
import { isOptional, otherBuild } from "./other-builds.ts";
import { packageFiles } from "./package-files.ts";
import { Parts } from "./parts.ts";
import { Modes } from "./modes.ts";
import { Scans } from "./scans.ts";
import { GuestNames } from "./names.ts";

export interface Built {
  readonly code: string;
  readonly map: string;
  /** The number of files that were read. */
  readonly files: number;
  readonly builtins: readonly Builtin[];
  /** The plugin's own files, as JSON; empty when its code cannot read them. */
  readonly own: string;
  /** If it was requested. */
  readonly scan?: BundleScan;
}

/** Creel's SDK is types and an identity function: the cell needs none of it. */
const SDK = "creel/plugin";
/** OpenClaw's SDK is part of the guest's library. */
const OPENCLAW_SDK = /^openclaw\/plugin-sdk(?:\/.*)?$/;
/** So is what stands for this package. */
const UNDICI = /^undici(?:\/.*)?$/;
/** Of it, this is zod: the plugin's, or ours. */
const SDK_ZOD = "openclaw/plugin-sdk/zod";
/** A package, and not a file. */
const BARE = /^(?:@[\w.~-]+\/)?[\w.~-]*\w/;
const SDK_ID = "\0creel-sdk";
const SDK_CODE = "export const definePlugin = (plugin) => plugin;";

/** Which of a package's builds to use. The bundler adds `import` or `require`, by how a module is asked for. */
const PLAIN = { mainFields: ["module", "main"], conditionNames: ["module", "default"] };
const NODE = { ...PLAIN, conditionNames: ["node", ...PLAIN.conditionNames] };
const MISSING_EXPORT = "[MISSING_EXPORT]";
/** `await` as a call of `then`, which is where AsyncLocalStorage can follow it (src/sandbox/guest/node/async/context.ts). */
const WITHOUT_AWAIT = "es2016";

export async function bundlePlugin(request: BundleRequest, text: string): Promise<Built> {
  const built = await chosen(request, text);
  if (!built.builtins.some(({ name }) => name === "async_hooks")) return built;
  return chosen(request, text, WITHOUT_AWAIT);
}

async function chosen(request: BundleRequest, text: string, target?: string): Promise<Built> {
  return bundled(request, text, PLAIN, target).catch(async (error: unknown) => {
    // A package's default build may have less than its build for Node, which its dependents were written against.
    if (!(error instanceof CreelError && String(error.params.detail).includes(MISSING_EXPORT))) throw error;
    return await bundled(request, text, NODE, target).catch(() => Promise.reject(error));
  });
}

async function bundled(request: BundleRequest, text: string, builds: typeof PLAIN, target?: string): Promise<Built> {
  const { cwd, input, root, ownsRoot, alias, hasText, scans, isPortable, isLiteral } = request;
  const scanned = scans ? new Scans() : undefined;
  const fence = new Fence(cwd, root);
  const modes = new Modes();
  const names = new GuestNames(root ?? cwd);
  const imports = new Imports(names);
  const parts = new Parts(cwd);
  const entry = resolve(cwd, input);
  let refusal: CreelError | undefined;
  const files: RolldownPlugin = {
    name: "creel",
    async resolveId(id, importer, { kind }) {
      if (id === SDK) return SDK_ID;
      if (Parts.isLoader(id)) return id;
      if (isBuiltin(id) || isNative(id)) {
        // What a module cannot load without is there as a stub.
        const inBundle = kind === "import-statement" && isAbsent(id) ? STUB + id : id;
        imports.note(inBundle, importer, kind);
        return { id: inBundle, external: true };
      }
      if (id.startsWith(STUB)) {
        imports.note(id, importer, kind);
        return { id, external: true };
      }
      if (UNDICI.test(id)) return { id: "undici", external: true };
      if (alias && id === alias.name) return alias.path;
      if (id === SDK_ZOD) return (await this.resolve("zod", importer, { skipSelf: true })) ?? fileURLToPath(import.meta.resolve("zod"));
      if (importer === undefined) return hasText ? entry : null;
      if (!BARE.test(id) || OPENCLAW_SDK.test(id) || (await this.resolve(id, importer, { kind, skipSelf: true }))) return null;
      const other = otherBuild(id, importer);
      if (other !== undefined) return other;
      if (kind !== "import-statement" || !isOptional(id, importer, root ?? cwd)) return null;
      imports.note(STUB + id, importer, kind);
      return { id: STUB + id, external: true };
    },
    load: (id) => {
      if (id === SDK_ID) return SDK_CODE;
      if (Parts.isLoader(id)) return parts.loader(id);
      if (hasText && id === entry) return withoutHashbang(text);
      // The bundler's own modules, which are not files.
      if (!isAbsolute(id)) return null;
      try {
        return withoutHashbang(fence.read(id));
      } catch (error) {
        // The bundler would put our stack into its message.
        refusal ??= error as CreelError;
        throw error;
      }
    },
    transform: (code, id) => {
      if (id === SDK_ID) return null;
      imports.scan(code);
      if (isAbsolute(id) && !(hasText && id === entry)) scanned?.add(id, names.name(id), code);
      return placed(code, names.path(id), hasText && id === entry);
    },
    moduleParsed: (module) => (Parts.isLoader(module.id) ? undefined : modes.note(module, hasText && module.id === entry)),
  };
  const partLoaders: RolldownPlugin = {
    name: "creel-parts",
    transform: (code, id) => (isAbsolute(id) ? parts.placed(code, id, hasText && id === entry) : null),
  };
  const stubs: RolldownPlugin = {
    name: "creel-stubs",
    transform: (code, id) => {
      if (id === SDK_ID) return null;
      const found = absentImports(code, names.path(id), hasText && id === entry);
      if (found) imports.locate(id, found.lines);
      return found?.code === undefined ? null : { code: found.code, map: found.map! };
    },
  };
  const common: OutputOptions = {
    format: "cjs",
    exports: "named",
    sourcemap: "hidden",
    // Packages may be links to folders elsewhere on this machine.
    sourcemapPathTransform: (source) => (source.startsWith("..") ? names.name(resolve(cwd, source)) : source),
    // Not needed, and most of a map.
    sourcemapExcludeSources: true,
    strict: false,
    // A script has no loader for `import()`; use `require`.
    dynamicImportInCjs: false,
    ...(isLiteral && { minify: false }),
    banner: ({ moduleIds }) => modes.directive(moduleIds),
  };
  let made: { code: string; map: string };
  let modules: readonly string[];
  const sizes = new Map<string, number>();
  try {
    await using build = await rolldown({
      input,
      cwd,
      plugins: [files, partLoaders, stubs],
      external: (id) => OPENCLAW_SDK.test(id) && id !== SDK_ZOD,
      platform: "neutral",
      resolve: { ...builds, extensionAlias: { ".js": [".ts", ".js"] } },
      logLevel: "silent",
      // Shaking also folds variables and statements into each other, within a function.
      treeshake: !isLiteral,
      ...(isPortable && { experimental: { attachDebugInfo: "none" as const } }),
      ...(target !== undefined && { transform: { target } }),
      // SECURITY: the bundler would search every folder for one and read whatever it extends, past the fence.
      // test/bundler/bundler.test.ts
      tsconfig: false,
    });
    const { output } = await build.generate({ ...common, codeSplitting: false, file: "plugin.js" });
    made = onlyChunk(output);
    modules = output[0].moduleIds;
    for (const [id, { renderedLength }] of Object.entries(output[0].modules)) {
      const name = packageOfPath(id);
      sizes.set(name, (sizes.get(name) ?? 0) + renderedLength);
    }
    if (modes.isMixed) {
      const groups = [{ name: "sloppy", test: (id: string) => modes.isSloppy(id) }];
      const fileNames = { entryFileNames: "plugin.js", chunkFileNames: "[name].js" };
      const [first, ...rest] = (await build.generate({ ...common, ...fileNames, codeSplitting: { groups }, dir: "." })).output;
      made = joinChunks(
        chunkOf(first),
        rest.flatMap((one) => (one.type === "chunk" ? chunkOf(one) : [])),
      );
    }
  } catch (error) {
    throw refusal ?? new CreelError("ERR_PLUGIN_BUNDLE", { detail: firstLines(error) });
  }
  const bytes = Buffer.byteLength(made.code);
  if (bytes > LIMITS.bundler.bundleBytes) throw new CreelError("ERR_PLUGIN_SIZE", { bytes, detail: largestOf(sizes) });
  const builtins = imports.within(made.code);
  const own =
    root !== undefined && readsFiles(builtins, made.code)
      ? packageFiles(root, {
          only: ownsRoot ? undefined : fence.own(),
          packages: fence.packages(),
          nameOf: (path) => names.name(path),
          code: made.code,
        })
      : "";
  return { ...made, files: fence.files, builtins, own, ...(scanned && { scan: scanned.of(modules) }) };
}

/**
 * The bundler would keep the hashbang, which is a syntax error in a function. A comment of the same length keeps the
 * columns.
 */
function withoutHashbang(text: string): string {
  return text.replace(/^(\uFEFF?)#!/, "$1//");
}

type Output = readonly [OutputChunk, ...(OutputAsset | OutputChunk)[]];

function onlyChunk([chunk]: Output): { code: string; map: string } {
  const { code, map = "" } = chunkOf(chunk);
  return { code, map };
}

function chunkOf({ fileName, code, map }: OutputChunk): { fileName: string; code: string; map: string | undefined } {
  return { fileName, code, map: map?.toString() };
}

function firstLines(error: unknown): string {
  // oxlint-disable-next-line no-control-regex -- the bundler colours its messages
  const text = (error instanceof Error ? error.message : String(error)).replaceAll(/\u001b\[[0-9;]*m/g, "");
  return text
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "" && !line.startsWith("Build failed"))
    .slice(0, 12)
    .join("\n");
}
