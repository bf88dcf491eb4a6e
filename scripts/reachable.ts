/**
 * Build time: the modules of the package that something can load: from its entry points, and from where a source file starts a thread or a process.
 * What was copied into chunks is left beside them by tsc, and nothing loads it.
 */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

interface Manifest {
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | { readonly default?: string }>>;
}

const SOURCES = resolve(import.meta.dirname, "../src");
/** `import`, `export … from`, `import()` and `require` of a file. */
const IMPORTED = /(?:\bfrom|\bimport|\bimport\(|\brequire\(|createRequire\(import\.meta\.url\)\()\s*["'](\.{1,2}\/[^"']+\.js)["']/g;
/** `new URL(`./thread${…}`, import.meta.url)`: a thread or a process, from .ts or .js as the file itself. */
const STARTED = /new URL\(\s*`(\.{1,2}\/[^`$]+)\$\{[^}]+\}`,\s*import\.meta\.url/g;

/** Paths of .js files below `dist`, in order. */
export function unreachable(dist: string, { bin, exports }: Manifest): string[] {
  const entries = [
    ...Object.values(bin),
    ...Object.values(exports).flatMap((entry) => (typeof entry === "string" ? [] : (entry.default ?? []))),
  ];
  const waiting = [
    ...entries.filter((path) => path.endsWith(".js")).map((path) => join(dist, relative("dist", path))),
    ...startedFrom(dist),
  ];
  const seen = new Set<string>();
  for (const file of waiting) {
    if (seen.has(file)) continue;
    seen.add(file);
    for (const [, path] of readFileSync(file, "utf8").matchAll(IMPORTED)) {
      const imported = join(dirname(file), path!);
      if (existsSync(imported)) waiting.push(imported);
    }
  }
  // A browser, a cell and Piscina load those.
  const others = ["console/assets/**", "sandbox/guest.bundle.js", "sandbox/process/pool-worker.js"];
  return globSync("**/*.js", { cwd: dist, exclude: others })
    .filter((file) => !seen.has(join(dist, file)))
    .toSorted();
}

function startedFrom(dist: string): string[] {
  return globSync("**/*.ts", { cwd: SOURCES }).flatMap((file) => {
    const started = readFileSync(join(SOURCES, file), "utf8").matchAll(STARTED);
    const made = Array.from(started, ([, path]) => join(dist, dirname(file), `${path}.js`));
    return made.filter((path) => existsSync(path));
  });
}
