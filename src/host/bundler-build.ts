/**
 * Bundler process: makes one script of a plugin's TypeScript or JavaScript and its pure-JS dependencies, with a source map. The one
 * file that bundles. What the sandbox does not have stays a `require`, which fails inside with its name.
 */
import { isBuiltin } from "node:module";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import type { OutputAsset, OutputChunk, OutputOptions, RolldownPlugin } from "rolldown";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { isNative } from "../protocol/modules/absent.ts";
import { guestEntries } from "../protocol/surface.ts";
import { eager, exportsUsed, listed, shared } from "./bundler-eager.ts";
import { functionsUsed } from "./bundler-hot.ts";
import { Fence } from "./bundler-fence.ts";
import { Imports, readsFiles } from "./bundler-imports.ts";
import { joinChunks, joinGuest } from "./bundler-join.ts";
import type { Builtin, BundleRequest, BundleScan } from "./bundler-message.ts";
import { placed } from "./bundler-meta.ts";
import { packageFiles } from "./package-files.ts";
import { known } from "./bundler-known.ts";
import { Modes } from "./bundler-modes.ts";
import { missingModules } from "./missing-modules.ts";
import { Scans } from "./bundler-scans.ts";
import { thin } from "./bundler-thin.ts";
import { GuestNames } from "./bundler-names.ts";

export interface Built {
  readonly code: string;
  readonly map: string;
  /** How many files were read. */
  readonly files: number;
  readonly builtins: readonly Builtin[];
  /** The plugin's own files, as JSON; empty when its code cannot read them. */
  readonly own: string;
  /** If it was asked for. */
  readonly scan?: BundleScan;
}

/** Our own SDK is types and an identity function: nothing of it is needed inside. */
const SDK = "creel/plugin";
/** OpenClaw's is a part of the guest's library. */
const OPENCLAW_SDK = /^openclaw\/plugin-sdk(?:\/.*)?$/;
const SDK_ID = "\0creel-sdk";
const SDK_CODE = "export const definePlugin = (plugin) => plugin;";

/** The entry of the bootstrap, and the chunk with all that it needs at once: whatever is not below web/ or node/. */
const MAIN = "main";
const CORE = "core";
/** What runs when a cell starts; the last is the bundler's own. */
const AT_ONCE: readonly string[] = [MAIN, CORE, "rolldown-runtime"];
const CORE_FILES = /[\\/](?:sandbox[\\/]guest[\\/][^\\/]+|protocol[\\/][^\\/]+)\.[jt]s$/;

/** Which of a package's builds is taken. */
const PLAIN = { mainFields: ["module", "main"], conditionNames: ["import", "module", "default"] };
/** Builds for browsers do without Node's modules, and some without a page, too. */
const BROWSER = {
  mainFields: ["browser", ...PLAIN.mainFields],
  conditionNames: ["browser", ...PLAIN.conditionNames],
  aliasFields: [["browser"]],
};

type PluginRequest = Extract<BundleRequest, { kind: "plugin" }>;

export async function bundlePlugin(request: PluginRequest, text: string): Promise<Built> {
  const built = await bundled(request, text, PLAIN);
  if (missingModules(built.builtins).length === 0) return built;
  // It cannot run as it is: a second build can only be better. What is wrong is told of the first.
  const second = await bundled(request, text, BROWSER).catch(() => built);
  return missingModules(second.builtins).length === 0 ? second : built;
}

async function bundled(request: PluginRequest, text: string, builds: typeof PLAIN): Promise<Built> {
  const { cwd, input, root, ownsRoot, alias, hasText, scans } = request;
  const scanned = scans ? new Scans() : undefined;
  const fence = new Fence(cwd, root);
  const modes = new Modes();
  const names = new GuestNames(root ?? cwd);
  const imports = new Imports(names);
  const entry = resolve(cwd, input);
  let refusal: CreelError | undefined;
  const files: RolldownPlugin = {
    name: "creel",
    resolveId: (id, importer, { kind }) => {
      if (id === SDK) return SDK_ID;
      if (isBuiltin(id) || isNative(id)) {
        imports.note(id, importer, kind);
        return { id, external: true };
      }
      if (alias && id === alias.name) return alias.path;
      return hasText && importer === undefined ? entry : null;
    },
    load: (id) => {
      if (id === SDK_ID) return SDK_CODE;
      if (hasText && id === entry) return withoutHashbang(text);
      // The bundler's own, which are not files.
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
    moduleParsed: (module) => modes.note(module, hasText && module.id === entry),
  };
  const common: OutputOptions = {
    format: "cjs",
    exports: "named",
    sourcemap: "hidden",
    // Nobody reads them, and they are most of a map.
    sourcemapExcludeSources: true,
    strict: false,
    // A script has no loader for `import()`; ours is `require`.
    dynamicImportInCjs: false,
    banner: ({ moduleIds }) => modes.directive(moduleIds),
  };
  let made: { code: string; map: string };
  let modules: readonly string[];
  try {
    await using build = await rolldown({
      input,
      cwd,
      plugins: [files],
      external: (id) => OPENCLAW_SDK.test(id),
      platform: "neutral",
      resolve: { ...builds, extensionAlias: { ".js": [".ts", ".js"] } },
      logLevel: "silent",
      treeshake: true,
    });
    const { output } = await build.generate({ ...common, codeSplitting: false, file: "plugin.js" });
    made = onlyChunk(output);
    modules = output[0].moduleIds;
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
  if (bytes > LIMITS.bundleBytes) throw new CreelError("ERR_PLUGIN_SIZE", { bytes });
  const builtins = imports.within(made.code);
  const own = root !== undefined && readsFiles(builtins, made.code) ? packageFiles(root, ownsRoot ? undefined : fence.own()) : "";
  return { ...made, files: fence.files, builtins, own, ...(scanned && { scan: scanned.of(modules) }) };
}

/** A script whose value is the table of entry points: what every cell needs, and what it loads when it is touched, as one chunk each. */
export async function bundleGuest(): Promise<Built> {
  await using build = await rolldown({
    input: Object.fromEntries([MAIN, ...guestEntries()].map((entry) => [entry, guestFile(entry)])),
    plugins: [known(), thin(guestFile)],
    platform: "neutral",
    resolve: PLAIN,
    logLevel: "silent",
    treeshake: true,
  });
  const { output } = await build.generate({
    format: "cjs",
    exports: "named",
    entryFileNames: "[name]",
    chunkFileNames: "[name]",
    // What every cell needs is one script: between scripts, names are looked up by getters.
    codeSplitting: { groups: [{ name: CORE, test: (id: string) => CORE_FILES.test(id) }] },
    // Nobody asks a chunk what it is.
    esModule: false,
    generatedCode: { symbols: false },
    minify: { compress: true, mangle: { toplevel: false, keepNames: true }, codegen: true },
  });
  const chunks = output.flatMap((one) => (one.type === "chunk" ? one : []));
  const absent = chunks.flatMap(({ fileName, imports }) =>
    imports.filter((name) => !chunks.some((chunk) => chunk.fileName === name)).map((name) => `${name} in ${fileName}`),
  );
  if (absent.length > 0) throw new Error(`the guest imports what is not bundled: ${absent.join(", ")}`);
  const usedAtOnce = exportsUsed(chunks.flatMap(({ fileName, code }) => (AT_ONCE.includes(fileName) ? code : [])));
  const bootstrap = chunks.filter(({ fileName }) => AT_ONCE.includes(fileName));
  const codes = bootstrap.map(({ code }) => shared(listed(code), usedAtOnce));
  const library = chunks.filter(({ fileName }) => !AT_ONCE.includes(fileName));
  const join = (texts: readonly string[]): string =>
    joinGuest(MAIN, AT_ONCE, [...bootstrap.map(({ fileName }, at) => ({ fileName, code: texts[at]! })), ...library]);
  const used = await functionsUsed(codes, join);
  return {
    code: join(codes.map((code, at) => eager(code, used[at]))),
    map: "",
    files: 0,
    builtins: [],
    own: "",
  };
}

function guestFile(entry: string): string {
  return fileURLToPath(new URL(`../sandbox/guest/${entry}.ts`, import.meta.url));
}

/** The bundler would keep it, and in a function it is a syntax error. A comment of the same length keeps the columns. */
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
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("Build failed"))
    .slice(0, 6)
    .join(" ");
}
