/**
 * Bundler child process: what a module says about its own place: `import.meta.*`, `__dirname`, `__filename`. One script
 * has only one place, so each module gets its own before it is bundled, as the cell will see it.
 */
import { dirname } from "node:path/posix";
import { pathToFileURL } from "node:url";
import { RolldownMagicString } from "rolldown";
import { parseSync } from "rolldown/utils";

const MENTIONED = /\bimport\s*\.\s*meta\b|\b__dirname\b|\b__filename\b/;
const LANGUAGE = /\.[cm]?([jt]sx?)$/;
const META = "__creel_import_meta";
const OWN = ["__dirname", "__filename"] as const;

type Parsed = ReturnType<typeof parseSync>;
type Statement = Parsed["program"]["body"][number];

export interface Placed {
  readonly code: string;
  /** From the new text to the old one. */
  readonly map: string;
}

/**
 * Undefined: there is nothing to replace. `path` is the module's path inside the cell. Text that does not parse is left
 * for the bundler to report.
 */
export function placed(code: string, path: string, isCode: boolean): Placed | undefined {
  const lang = LANGUAGE.exec(path)?.[1] ?? (isCode ? "ts" : undefined);
  if (lang === undefined || !MENTIONED.test(code)) return undefined;
  const parsed = parse(path, code, lang as "js");
  if (!parsed) return undefined;
  const { program, module } = parsed;
  const own = OWN.filter((name) => code.includes(name) && !program.body.some((statement) => declares(statement, name)));
  if (own.length === 0 && module.importMetas.length === 0) return undefined;
  const text = new RolldownMagicString(code);
  for (const { start, end } of module.importMetas) text.overwrite(start, end, META);
  const values = { __dirname: dirname(path), __filename: path };
  let head = own.map((name) => `var ${name} = ${JSON.stringify(values[name])};`).join(" ");
  if (module.importMetas.length > 0) head += metaOf(path);
  // After directives, which count only at the beginning, and on the same line.
  const first = program.body.find((statement) => !("directive" in statement && typeof statement.directive === "string"));
  text.appendLeft(first?.start ?? code.length, head);
  return { code: text.toString(), map: text.generateMap({ hires: true }).toString() };
}

/** An ECMAScript module, or else a CommonJS file, which may be sloppy and have a top-level return. */
export function parse(path: string, code: string, lang: "js"): Parsed | undefined {
  for (const sourceType of ["unambiguous", "commonjs"] as const) {
    const parsed = parseSync(path, code, { lang, sourceType });
    if (parsed.errors.length === 0) return parsed;
  }
  return undefined;
}

function metaOf(path: string): string {
  const url = pathToFileURL(path, { windows: false }).href;
  const fields = { url, dirname: dirname(path), filename: path, main: false };
  return `var ${META} = { __proto__: null, ...${JSON.stringify(fields)}, resolve: (name) => new URL(name, ${JSON.stringify(url)}).href };`;
}

/** Whether it declares the name in the module's own scope. Many modules define their own `__dirname`. */
function declares(statement: Statement, name: string): boolean {
  const declared = statement.type === "ExportNamedDeclaration" ? (statement.declaration as Statement | null) : statement;
  switch (declared?.type) {
    case "VariableDeclaration":
      if (declared.declare) return false;
      // A pattern may contain it anywhere.
      return declared.declarations.some(({ id }) =>
        id.type === "Identifier" ? id.name === name : JSON.stringify(id).includes(`"${name}"`),
      );
    case "FunctionDeclaration":
    case "ClassDeclaration":
      return declared.id?.name === name;
    case "ImportDeclaration":
      return declared.specifiers.some(({ local }) => local.name === name);
    default:
      return false;
  }
}
