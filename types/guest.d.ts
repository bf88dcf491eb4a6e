/**
 * The world of a plugin inside Creel's sandbox, for an editor and for `creel check`: what is not declared here is not there at run time.
 * Use it instead of TypeScript's "dom" and of @types/node: `"lib": ["esnext"], "types": ["creel/guest"]` in the plugin's tsconfig.json.
 * test/types/guest.test.ts compares it, name by name, with what a cell has.
 */
/// <reference path="./web.d.ts" />
/// <reference path="./node.d.ts" />
/// <reference path="./node-io.d.ts" />
/// <reference path="./node-net.d.ts" />
export {};
