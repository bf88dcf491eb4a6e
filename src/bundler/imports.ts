/** Both gateway and bundler child process: which Node modules a bundle requires, and which files import them. */
import { STUB } from "../protocol/guest-surface/stub.ts";
import type { Builtin } from "./messages.ts";
import type { GuestNames } from "./child/names.ts";

const MAX_IMPORTERS = 8;
const MAX_NAME = 256;

/** How badly a module is needed, the worst first; see Builtin. */
const NEEDS = ["import", "require", "late"] as const;
type Need = (typeof NEEDS)[number];

/**
 * `const net = require("net")` and the like at the beginning of a line, which in common code style is outside any
 * function.
 */
const TOP_REQUIRE =
  /^(?:(?:const|let|var)\s[^=\n]{1,200}=\s*|[\w.$]{1,100}\s*=\s*)?(?:[\w$.]{1,100}\()?require\(\s*["']([^"'\n]{1,128})["']\s*\)/gm;

/** What a text requires outside any function. */
export function topRequires(code: string): Set<string> {
  return code.includes("require") ? new Set(Array.from(code.matchAll(TOP_REQUIRE), ([, id]) => id!)) : new Set();
}

export class Imports {
  readonly #names: GuestNames;
  /** The id in the bundle → its importers, each with the line where it uses the module, if that is known. */
  readonly #importers = new Map<string, Map<string, number | undefined>>();
  readonly #needs = new Map<string, Need>();
  readonly #lines = new Map<string, ReadonlyMap<string, number>>();

  constructor(names: GuestNames) {
    this.#names = names;
  }

  /** Call it with the text of every module. */
  scan(code: string): void {
    for (const id of topRequires(code)) this.#need(id, "require");
  }

  /** Where a module of the plugin uses what is absent, by name. */
  locate(module: string, lines: ReadonlyMap<string, number>): void {
    this.#lines.set(module, lines);
    // Requires that the bundler does not see, as in builds of other bundlers.
    for (const name of lines.keys()) this.#add(STUB + name, name, module);
  }

  /** A module of the plugin imports a Node module. `kind` says how, in the bundler's terms. */
  note(id: string, importer: string | undefined, kind: string): void {
    const name = plainId(id);
    this.#need(name, kind === "import-statement" ? "import" : "late");
    this.#add(id, name, importer);
  }

  #add(id: string, name: string, importer: string | undefined): void {
    let importers = this.#importers.get(id);
    if (!importers) this.#importers.set(id, (importers = new Map()));
    if (importer !== undefined && importers.size < MAX_IMPORTERS)
      importers.set(this.#names.name(importer).slice(-MAX_NAME), this.#lines.get(importer)?.get(name));
  }

  /** The modules that remain in the code after tree shaking. `fs` and `node:fs` are one. */
  within(code: string): Builtin[] {
    const found = new Map<string, { importers: Map<string, number | undefined>; needed: Need; isStub: boolean }>();
    for (const [id, importers] of this.#importers) {
      if (!code.includes(`require(${JSON.stringify(id)})`)) continue;
      const name = plainId(id).replace(/^node:/, "");
      const known = found.get(name) ?? { importers: new Map<string, number | undefined>(), needed: "late", isStub: false };
      for (const [importer, line] of importers) {
        const before = known.importers.get(importer);
        if (known.importers.size < MAX_IMPORTERS) known.importers.set(importer, Math.min(line ?? Infinity, before ?? Infinity));
      }
      known.needed = worst(this.#needs.get(plainId(id)) ?? "late", known.needed);
      known.isStub ||= id.startsWith(STUB);
      found.set(name, known);
    }
    return Array.from(found, ([name, { importers, needed, isStub }]) => {
      const sorted = [...importers].toSorted(([a], [b]) => (a < b ? -1 : 1));
      const line = sorted[0]?.[1] ?? Infinity;
      return {
        name: name.slice(-MAX_NAME / 2),
        importers: sorted.map(([importer]) => importer),
        needed,
        ...(isStub && { isStub }),
        ...(line < Infinity && { line }),
      };
    }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  #need(id: string, need: Need): void {
    this.#needs.set(id, worst(need, this.#needs.get(id)));
  }
}

export function plainId(id: string): string {
  return id.startsWith(STUB) ? id.slice(STUB.length) : id;
}

function worst(a: Need, b: Need = "late"): Need {
  return NEEDS.indexOf(a) < NEEDS.indexOf(b) ? a : b;
}

/** Whether the code can reach `fs`. Code that requires modules by computed names may require this one. */
export function readsFiles(builtins: readonly Builtin[], code: string): boolean {
  return builtins.some(({ name }) => name === "fs" || name === "fs/promises" || name === "module") || code.includes("getBuiltinModule");
}
