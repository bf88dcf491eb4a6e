/**
 * Checks a plugin's types against what the sandbox provides (types/guest.d.ts): a name that does not exist is reported
 * where it is used. Runs the plugin's TypeScript or Creel's, with the plugin's tsconfig.json except for the global
 * types.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, extname, isAbsolute, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { tmpdir } from "node:os";
import type { Problem } from "./examine.ts";

export type TypesMode = "auto" | "none" | "required";

export interface Checked {
  readonly isChecked: boolean;
  readonly by: string;
  readonly problems: readonly Problem[];
}

const LINE = /^(?<file>.+?)\((?<line>\d+),(?<column>\d+)\): error TS(?<code>\d+): (?<message>.*)$/;
/**
 * A name, module or export that does not exist. JavaScript has no types to check, so nothing else is reported for it.
 */
const ABSENT = new Set([2304, 2305, 2307, 2552, 2580, 2581, 2583, 2584, 2591, 2614, 2724, 2792]);
const WORLD = fileURLToPath(new URL("../../../types/guest.d.ts", import.meta.url));
const OPENCLAW = fileURLToPath(new URL("../../../types/openclaw.d.ts", import.meta.url));

export async function checkTypes(root: string, entry: string, mode: TypesMode): Promise<Checked> {
  if (mode === "none") return { isChecked: false, by: "not asked for", problems: [] };
  const tsc = findTypeScript(root);
  if (!tsc) {
    const message = "TypeScript was not found: types were not checked";
    const problem: Problem = { step: "types", message, at: undefined, fix: "npm install --save-dev typescript" };
    return { isChecked: false, by: message, problems: mode === "required" ? [problem] : [] };
  }
  const folder = await mkdtemp(join(tmpdir(), "creel-check-"));
  try {
    const config = join(folder, "tsconfig.json");
    await writeFile(config, JSON.stringify(configFor(root, entry)));
    const lines = await compile(tsc.path, config);
    const isScript = /^\.[cm]?jsx?$/.test(extname(entry));
    return {
      isChecked: true,
      by: `TypeScript ${tsc.version}`,
      problems: lines.flatMap((line, at) => problemOf(withReason(line, lines, at), folder, root, isScript) ?? []),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface TypeScript {
  readonly path: string;
  readonly version: string;
}

function findTypeScript(root: string): TypeScript | undefined {
  for (const from of [join(root, "x.js"), import.meta.url]) {
    try {
      const require = createRequire(from);
      const manifest = require.resolve("typescript/package.json");
      const { version, bin } = require(manifest) as { version: string; bin: { tsc: string } };
      return { path: join(dirname(manifest), bin.tsc), version };
    } catch {
      // Not there: the next one.
    }
  }
  return undefined;
}

function configFor(root: string, entry: string): object {
  const own = join(root, "tsconfig.json");
  const sdk = pluginTypes();
  return {
    ...(existsSync(own) && { extends: own }),
    compilerOptions: {
      ...(!existsSync(own) && { strict: true }),
      target: "esnext",
      lib: ["esnext"],
      module: "preserve",
      moduleResolution: "bundler",
      allowImportingTsExtensions: true,
      resolveJsonModule: true,
      allowJs: true,
      checkJs: true,
      skipLibCheck: true,
      noEmit: true,
      // Only the sandbox's world: neither the DOM nor Node.
      typeRoots: [],
      types: [],
      paths: { "creel/plugin": [sdk] },
    },
    files: [entry, WORLD, OPENCLAW],
    include: [],
  };
}

/** The author's SDK: its sources in Creel's own repository, declarations in the package. */
function pluginTypes(): string {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "d.ts";
  return fileURLToPath(new URL(`../../sdk/author/plugin.${extension}`, import.meta.url));
}

function compile(tsc: string, config: string): Promise<string[]> {
  return new Promise((done, fail) => {
    // TypeScript prints paths relative to its working directory, so that is always the same.
    const options = { cwd: dirname(config), maxBuffer: 16 * 2 ** 20 };
    execFile(process.execPath, [tsc, "-p", config, "--pretty", "false"], options, (error, stdout, stderr) => {
      const lines = stdout.split("\n").filter((line) => line.trim() !== "");
      // It exits with an error when it has found something; without a line it could not even start.
      if (error && lines.length === 0) fail(new Error(`TypeScript failed: ${stderr || error.message}`));
      else done(lines);
    });
  });
}

/** `api.on` has overloads, about which TypeScript says that none fits; why the last one does not is the last line of those below. */
function withReason(line: string, lines: readonly string[], at: number): string {
  if (!line.endsWith(NO_OVERLOAD)) return line;
  let last = at;
  while (lines[last + 1]?.startsWith(" ")) last += 1;
  return last === at ? line : line.replace(NO_OVERLOAD, lines[last]!.trim());
}

const NO_OVERLOAD = "No overload matches this call.";

/** Undefined: the line is not about the plugin's own files, or not relevant. */
function problemOf(line: string, from: string, root: string, isScript: boolean): Problem | undefined {
  const found = LINE.exec(line)?.groups;
  // The continuation of the message before.
  if (!found && line.startsWith(" ")) return undefined;
  if (!found) return { step: "types", message: line, at: undefined, fix: undefined };
  const file = relative(root, resolve(from, found.file!));
  if (file.startsWith("..") || isAbsolute(file) || file.includes("node_modules")) return undefined;
  const code = Number(found.code);
  if (isScript && !ABSENT.has(code)) return undefined;
  return {
    step: "types",
    message: withoutAdvice(found.message!),
    at: `${file}:${found.line}:${found.column}`,
    fix: ABSENT.has(code) ? ADVICE : undefined,
  };
}

const ADVICE = 'the sandbox does not provide it; "creel help web-platform" and "creel help node-modules" list what it has';

/** TypeScript advises to install types of Node or the DOM, which would only hide that the thing is missing. */
function withoutAdvice(message: string): string {
  return message.replace(/ (?:Do you need to|Try `npm|Consider adding|Did you mean to set).*$/, "");
}
