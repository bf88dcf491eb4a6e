/**
 * Bundler child process: packages that the usual conditions do not find. Some offer builds for `node` and `browser`
 * only; some are optional, and not installed. Reads package.json files; what it finds is read through the fence.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ResolverFactory } from "rolldown/experimental";

const FIELDS = { mainFields: ["module", "main", "browser"], extensions: [".js", ".mjs", ".cjs", ".json", ".ts"] };
/** The browser's build first: it needs no module of Node's. */
const BUILDS = ["browser", "node", "require"].map(
  (condition) =>
    new ResolverFactory({
      ...FIELDS,
      conditionNames: [condition, "import", "module", "default", ...(condition === "node" ? ["require"] : [])],
    }),
);

/** The file of a package for other conditions. Undefined: there is none. */
export function otherBuild(id: string, importer: string): string | undefined {
  for (const build of BUILDS) {
    try {
      const { path } = build.sync(dirname(importer), id);
      if (path !== undefined) return path;
    } catch {
      // Not a path that can be asked about.
    }
  }
  return undefined;
}

interface Manifest {
  name?: unknown;
  optionalDependencies?: unknown;
  peerDependencies?: unknown;
}

/** Whether the importer's package says that it can do without, or that its user provides it. */
export function isOptional(id: string, importer: string, root: string): boolean {
  const name = id.split("/", id.startsWith("@") ? 2 : 1).join("/");
  for (let folder = dirname(importer); ; folder = dirname(folder)) {
    const found = manifestIn(folder);
    if (found)
      return [found.optionalDependencies, found.peerDependencies].some(
        (list) => typeof list === "object" && list !== null && Object.hasOwn(list, name),
      );
    // SECURITY: nothing above the plugin's own folder is read. test/contract/package-data.test.ts
    if (folder === root || folder === dirname(folder)) return false;
  }
}

/** One with a name: others only say of which kind a folder's files are. */
function manifestIn(folder: string): Manifest | undefined {
  try {
    const found = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest | null;
    return typeof found?.name === "string" ? found : undefined;
  } catch {
    return undefined;
  }
}
