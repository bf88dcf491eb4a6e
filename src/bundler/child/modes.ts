/**
 * Bundler child process: which modules of a bundle run in sloppy mode. ECMAScript modules are strict; a CommonJS file
 * is sloppy if it would be in Node. One script has one mode, so the two kinds go into separate scripts.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ModuleInfo } from "rolldown";

const CODE = /\.(?:[cm]?[jt]s|[jt]sx)$/;
const COMMON = /\.c[jt]s$/;
const MODULE = /\.m[jt]s$/;
/** What may precede the directive: blanks, comments, other directives. */
const BEFORE = /\s+|\/\/.*|\/\*[^]*?\*\/|(?:"(?!use strict")[^"\n\\]*"|'(?!use strict')[^'\n\\]*')\s*;/y;
const DIRECTIVE = /(?:"use strict"|'use strict')/y;

export class Modes {
  readonly #sloppy = new Set<string>();
  readonly #strict = new Set<string>();
  readonly #types = new Map<string, boolean>();

  /** Call it for every module of the bundle. `isText`: it is not a file, so no package decides its kind. */
  note({ id, inputFormat, code }: Pick<ModuleInfo, "id" | "inputFormat" | "code">, isText: boolean): void {
    if (!CODE.test(id)) return;
    const isCommon = COMMON.test(id) || (!MODULE.test(id) && inputFormat !== "es" && (isText || !this.#isModuleType(dirname(id))));
    (isCommon && !asksForStrict(code ?? "") ? this.#sloppy : this.#strict).add(id);
  }

  get isMixed(): boolean {
    return this.#sloppy.size > 0 && this.#strict.size > 0;
  }

  isSloppy(id: string): boolean {
    return this.#sloppy.has(id);
  }

  /** The first line of a script with these modules. */
  directive(modules: readonly string[]): string {
    return modules.some((id) => this.#sloppy.has(id)) ? "" : '"use strict";';
  }

  /** Whether the nearest package.json says `"type": "module"`. */
  #isModuleType(folder: string): boolean {
    let known = this.#types.get(folder);
    if (known === undefined) this.#types.set(folder, (known = this.#readType(folder)));
    return known;
  }

  #readType(folder: string): boolean {
    try {
      return (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { type?: unknown } | null)?.type === "module";
    } catch {
      const parent = dirname(folder);
      return parent !== folder && this.#isModuleType(parent);
    }
  }
}

function asksForStrict(code: string): boolean {
  let at = 0;
  for (BEFORE.lastIndex = 0; BEFORE.test(code);) at = BEFORE.lastIndex;
  DIRECTIVE.lastIndex = at;
  return DIRECTIVE.test(code);
}
