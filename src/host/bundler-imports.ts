/** Bundler process: which of Node's modules a bundle requires, and who imports them. */
import type { Builtin } from "./bundler-message.ts";
import type { GuestNames } from "./bundler-names.ts";

const MAX_IMPORTERS = 8;
const MAX_NAME = 256;

export class Imports {
  readonly #names: GuestNames;
  readonly #importers = new Map<string, Set<string>>();

  constructor(names: GuestNames) {
    this.#names = names;
  }

  /** A module of the plugin's imports one of Node's. */
  note(id: string, importer: string | undefined): void {
    let importers = this.#importers.get(id);
    if (!importers) this.#importers.set(id, (importers = new Set()));
    if (importer !== undefined && importers.size < MAX_IMPORTERS) importers.add(this.#names.name(importer).slice(-MAX_NAME));
  }

  /** Those that are left: what nobody uses is not in the code. `fs` and `node:fs` are one. */
  within(code: string): Builtin[] {
    const found = new Map<string, Set<string>>();
    for (const [id, importers] of this.#importers) {
      if (!code.includes(`require(${JSON.stringify(id)})`)) continue;
      const name = id.replace(/^node:/, "");
      const known = found.get(name) ?? new Set<string>();
      for (const importer of importers) if (known.size < MAX_IMPORTERS) known.add(importer);
      found.set(name, known);
    }
    return Array.from(found, ([name, importers]) => ({ name, importers: [...importers].toSorted() })).toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    );
  }
}
