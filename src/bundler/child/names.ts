/**
 * Bundler child process: the path of a module as the plugin sees it: its own files under /plugin, those of packages
 * under /plugin/node_modules. Never reveals a path of the machine.
 */
import { posix, relative, sep } from "node:path";
import { realpathSync } from "node:fs";
import { PACKAGE_ROOT } from "../../protocol/messages/files.ts";

const MODULES = `${sep}node_modules${sep}`;

export class GuestNames {
  readonly #base: string;

  /** `base` is the plugin's folder, or for a plugin given as text, where it would be. */
  constructor(base: string) {
    this.#base = realpathSync(base);
  }

  /**
   * Its name inside the cell, without the leading /plugin. Package managers nest folders of packages: the innermost
   * counts.
   */
  name(id: string): string {
    // The plugin's folder may itself be an installed package.
    const own = id.startsWith(this.#base + sep) ? id.slice(this.#base.length) : undefined;
    const inner = own ?? id;
    const at = inner.lastIndexOf(MODULES);
    const path = at >= 0 ? inner.slice(at + 1) : (own?.slice(1) ?? relative(this.#base, id));
    const plain = path.split(sep).join("/");
    // Neither the plugin's nor a package's: a module of the bundler itself, or one that it is about to refuse.
    return plain === "" || plain.startsWith("../") || plain.includes("\0") ? "plugin.js" : plain;
  }

  path(id: string): string {
    return posix.join(PACKAGE_ROOT, this.name(id));
  }
}
