/** Bundler process, and the trusted side: which of Node's modules a bundle requires, and who imports them. */
import type { Builtin } from "./bundler-message.ts";
import type { GuestNames } from "./bundler-names.ts";

const MAX_IMPORTERS = 8;
const MAX_NAME = 256;

/** How badly a module is needed, the worst first; see Builtin. */
const NEEDS = ["import", "require", "late"] as const;
type Need = (typeof NEEDS)[number];

/** `const net = require("net")` and its like at the beginning of a line: outside of any function, as code is commonly laid out. */
const TOP_REQUIRE =
  /^(?:(?:const|let|var)\s[^=\n]{1,200}=\s*|[\w.$]{1,100}\s*=\s*)?(?:[\w$.]{1,100}\()?require\(\s*["']([^"'\n]{1,128})["']\s*\)/gm;

export class Imports {
  readonly #names: GuestNames;
  readonly #importers = new Map<string, Set<string>>();
  readonly #needs = new Map<string, Need>();

  constructor(names: GuestNames) {
    this.#names = names;
  }

  /** To be told the text of every module. */
  scan(code: string): void {
    if (!code.includes("require")) return;
    for (const [, id] of code.matchAll(TOP_REQUIRE)) this.#need(id!, "require");
  }

  /** A module of the plugin's imports one of Node's. `kind` is how, in the bundler's words. */
  note(id: string, importer: string | undefined, kind: string): void {
    this.#need(id, kind === "import-statement" ? "import" : "late");
    let importers = this.#importers.get(id);
    if (!importers) this.#importers.set(id, (importers = new Set()));
    if (importer !== undefined && importers.size < MAX_IMPORTERS) importers.add(this.#names.name(importer).slice(-MAX_NAME));
  }

  /** Those that are left: what nobody uses is not in the code. `fs` and `node:fs` are one. */
  within(code: string): Builtin[] {
    const found = new Map<string, Set<string>>();
    const needs = new Map<string, Need>();
    for (const [id, importers] of this.#importers) {
      if (!code.includes(`require(${JSON.stringify(id)})`)) continue;
      const name = id.replace(/^node:/, "");
      const known = found.get(name) ?? new Set<string>();
      for (const importer of importers) if (known.size < MAX_IMPORTERS) known.add(importer);
      found.set(name, known);
      const need = this.#needs.get(id) ?? "late";
      needs.set(name, worst(need, needs.get(name)));
    }
    return Array.from(found, ([name, importers]) => ({
      name: name.slice(-MAX_NAME / 2),
      importers: [...importers].toSorted(),
      needed: needs.get(name)!,
    })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  #need(id: string, need: Need): void {
    this.#needs.set(id, worst(need, this.#needs.get(id)));
  }
}

function worst(a: Need, b: Need = "late"): Need {
  return NEEDS.indexOf(a) < NEEDS.indexOf(b) ? a : b;
}

/** Can the code get at `fs`? Whoever asks for modules by names that are made at run time may ask for this one. */
export function readsFiles(builtins: readonly Builtin[], code: string): boolean {
  return builtins.some(({ name }) => name === "fs" || name === "fs/promises" || name === "module") || code.includes("getBuiltinModule");
}
