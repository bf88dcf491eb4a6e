/** The names of the scripts inside a cell, as stacks, debuggers and profiles show them. */

/** Creel's own code; parts of its library are called `creel:guest/…`. */
export const BOOTSTRAP_SCRIPT = "creel:guest";

/** A plugin's bundle. */
export const pluginScript = (plugin: string): string => `creel:plugin/${plugin}.js`;
