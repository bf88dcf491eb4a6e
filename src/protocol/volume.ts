/**
 * The file system inside a cell, as host and guest agree on it. Posix, whatever the machine: the package's own files at /plugin,
 * the plugin's volume at /home/plugin, scratch space at /tmp. Nothing of the machine's is behind any of these names.
 */

/** Read-only: the plugin's own files. */
export const PACKAGE_ROOT = "/plugin";
/** Home and working directory: the volume, if it was granted. */
export const HOME = "/home/plugin";
/** Writable always; gone with the cell. */
export const TEMPORARY = "/tmp";
