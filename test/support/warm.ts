/** Before any test: compiles what sandboxes are made of, once, since those that tests start are killed before they could keep it. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const CACHE = new URL("../../src/sandbox/compile-cache.ts", import.meta.url).href;
const SCRIPT = `
  import { flushCompileCache } from "node:module";
  const sandbox = ${JSON.stringify(new URL("../../src/sandbox/", import.meta.url).href)};
  const host = ${JSON.stringify(new URL("../../src/host/", import.meta.url).href)};
  for (const name of ["pool.ts", "watcher.ts", "main.ts"]) await import(sandbox + name);
  await import(host + "bundler-build.ts");
  flushCompileCache();
`;

export default function setup(): void {
  const cwd = fileURLToPath(new URL("../../", import.meta.url));
  execFileSync(process.execPath, ["-C", "source", "--import", CACHE, "--input-type=module", "--eval", SCRIPT], { cwd, stdio: "inherit" });
}
