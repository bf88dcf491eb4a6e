/** Before any test: compiles what sandboxes are made of, once, since those that tests start are killed before they could keep it. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const CACHE = new URL("../../scripts/compile-cache.mjs", import.meta.url).href;
const SCRIPT = `
  import { flushCompileCache } from "node:module";
  const sandbox = ${JSON.stringify(new URL("../../src/sandbox/", import.meta.url).href)};
  const bundler = ${JSON.stringify(new URL("../../src/bundler/", import.meta.url).href)};
  for (const name of ["process/pool.ts", "process/stall-detector.ts", "lane/thread.ts"]) await import(sandbox + name);
  await import(bundler + "child/build.ts");
  flushCompileCache();
`;

export default function setup(): void {
  const cwd = fileURLToPath(new URL("../../", import.meta.url));
  execFileSync(process.execPath, ["-C", "source", "--import", CACHE, "--input-type=module", "--eval", SCRIPT], { cwd, stdio: "inherit" });
}
