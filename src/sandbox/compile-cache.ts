/**
 * For sandboxes that run from TypeScript sources and have no walls, as those of the tests: what was compiled once is kept beside the packages.
 * Most of a thread's start is compiling otherwise: 155 ms with it, 480 ms without, on a busy machine; a third of the processor time of process tests. The built package has no use for it.
 */
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

enableCompileCache(fileURLToPath(new URL("../../node_modules/.cache/creel-sandbox", import.meta.url)));
