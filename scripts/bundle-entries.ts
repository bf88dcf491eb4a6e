/**
 * Build time: the package's entries and the command, each with what it imports in a few files. Loading 180 small modules took a command three
 * times as long as its work: see scripts/cli-times.ts. Children and threads still start from the files that tsc made.
 */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { rolldown } from "rolldown";
import type { Plugin } from "rolldown";

/** Copied into the chunks. The others stay packages of their own, and are loaded when they are needed. */
const INLINED = ["zod", "jsonc-parser"];

const NODE_IMPORT = /^import \{ ([^}]+) \} from ("node:[\w/]+");$/;
const builtinInstead = (_: string, names: string, module: string): string =>
  `const { ${names.replaceAll(" as ", ": ")} } = process.getBuiltinModule(${module});`;

/**
 * An import of Node's own as a module reads every property of it, and with that loads worker threads, a differ and streams that most commands never
 * need: 10 ms of each command. Only real imports: templates of files that commands write have such lines, too.
 */
export const builtins: Plugin = {
  name: "builtins",
  renderChunk(code) {
    let made = code;
    for (const { type, start, end } of this.parse(code).body.toReversed())
      if (type === "ImportDeclaration")
        made = made.slice(0, start) + code.slice(start, end).replace(NODE_IMPORT, builtinInstead) + made.slice(end);
    return { code: made };
  },
};

export interface Bundled {
  readonly dist: string;
  /** Where the chunks go, below `dist`. */
  readonly folder: string;
  /** By the name of the file that is made; the module itself then only leads there. */
  readonly entries: Readonly<Record<string, string>>;
  /** Modules that are always loaded together with what they import: each list is one chunk. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
}

export async function bundleEntries({ dist, folder, entries, groups }: Bundled): Promise<void> {
  const out = join(dist, folder);
  const inputs = Object.values(entries).map((file) => join(dist, file));
  const chunks = Object.entries(groups).map(([name, files], index, { length }) => {
    const members = new Set(files.flatMap((file) => [...importsOf(join(dist, file))]));
    // An entry may await its chunks, so no chunk has one.
    for (const input of inputs) members.delete(input);
    return { name, priority: length - index, test: (id: string) => members.has(id) };
  });
  const packages = { name: "packages", priority: 0, test: new RegExp(`/node_modules/(?:${INLINED.join("|")})/`) };
  await using bundle = await rolldown({
    input: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, join(dist, file)])),
    platform: "node",
    preserveEntrySignatures: "allow-extension",
    // jsonc-parser's other build cannot be bundled.
    resolve: { mainFields: ["module", "main"] },
    external: [/^node:/, new RegExp(`^(?!(?:${INLINED.join("|")})(?:/|$))[a-z@]`)],
    // A dynamic import of what is loaded already is cheap, and right.
    checks: { ineffectiveDynamicImport: false },
    logLevel: "warn",
    plugins: [
      {
        // A module finds its children and pages beside itself: it keeps its old address.
        name: "addresses",
        transform: {
          filter: { code: /import\.meta\.url/ },
          handler: (code, id) =>
            id.startsWith(dist)
              ? { code: code.replaceAll("import.meta.url", `new URL(${JSON.stringify(relative(out, id))}, import.meta.url).href`) }
              : undefined,
        },
      },
      builtins,
    ],
  });
  await bundle.write({
    dir: out,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    codeSplitting: { includeDependenciesRecursively: false, groups: [...chunks, packages] },
  });
  for (const [name, file] of Object.entries(entries)) {
    const made = relative(dirname(join(dist, file)), join(out, `${name}.js`));
    writeFileSync(join(dist, file), `export * from "./${made}";\n`);
  }
  const require = createRequire(import.meta.url);
  for (const name of INLINED) cpSync(licenceOf(dirname(require.resolve(`${name}/package.json`))), join(out, `LICENSE.${name}`));
}

function licenceOf(folder: string): string {
  return join(folder, folder.endsWith("jsonc-parser") ? "LICENSE.md" : "LICENSE");
}

/** The module, and all that it imports before it runs. */
function importsOf(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, path] of readFileSync(file, "utf8").matchAll(/^(?:import|export)\b[^;]*?"(\.[^"]+\.js)";$/gms))
    importsOf(join(dirname(file), path!), seen);
  return seen;
}
