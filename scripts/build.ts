/**
 * Makes `dist/`, or the folder that is named: JavaScript and declarations by tsc, the guest bootstrap as one script, and as one module each the
 * sandbox process, a lane's thread (thirty take 15 ms of its start) and `creel hook`.
 */
import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import type { Plugin } from "rolldown";
import { builtins, bundleEntries } from "./bundle-entries.ts";
import { buildConsole } from "./console-build/build.ts";
import { buildGuest } from "./guest-build/build.ts";
import { writeEntries } from "./entries.ts";
import { unreachable } from "./reachable.ts";

const dist = resolve(process.argv[2] ?? "dist");
const tsc = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));

/** What Piscina runs first in its threads: a file beside the one that imports it. */
const piscinaWorker = join(dirname(createRequire(import.meta.url).resolve("piscina")), "worker.js");
const WORKER = `(0, node_path_1.resolve)(__dirname, 'worker.js')`;
const ownWorker: Plugin = {
  name: "own worker",
  transform: {
    filter: { id: /\/piscina\/dist\/index\.js$/ },
    handler(code) {
      if (!code.includes(WORKER)) throw new Error("Piscina names its worker in another way than the build expects");
      return { code: code.replace(WORKER, `new URL("pool-worker.js", import.meta.url)`) };
    },
  },
};

/** Piscina asserts what always holds, and Node's module for that takes 2 ms of each start: it is loaded when something does not hold. */
const lazyAssert: Plugin = {
  name: "lazy assert",
  resolveId: (id) => (id === "node:assert" ? "\0assert" : undefined),
  load: (id) => (id === "\0assert" ? ASSERT : undefined),
};
const ASSERT = `const real = () => process.getBuiltinModule("node:assert");
export default Object.assign((ok, ...rest) => ok || real()(ok, ...rest), { notStrictEqual: (...all) => real().notStrictEqual(...all) });`;

rmSync(dist, { recursive: true, force: true });
execFileSync(process.execPath, [tsc, "-p", "tsconfig.build.json", "--outDir", dist], { stdio: "inherit" });
tolerateMissingPeers();
writeFileSync(join(dist, "sandbox/guest.bundle.js"), await buildGuest());
mkdirSync(join(dist, "console/assets"), { recursive: true });
for (const [name, text] of Object.entries(await buildConsole())) writeFileSync(join(dist, "console/assets", name), text);

await bundleEntries({
  dist,
  folder: "lib",
  entries: { index: "index.js", testing: "sdk/testing/testing.js", bridge: "openclaw/bridge.js" },
  // A shim of OpenClaw loads the bridge without the host, and a gateway starts the sandbox before it loads the host.
  groups: { index: ["index.js"], registration: ["openclaw/shim-facts.js"], launch: ["sdk/first-unit.js"], host: ["sdk/open-host.js"] },
});
await bundleEntries({
  dist,
  folder: "cli/lib",
  entries: { run: "cli/run.js" },
  groups: { base: ["cli/run.js"], plugins: ["cli/plugins/project.js", "install/review/permission-keys.js", "cli/ui/table.js"] },
});
await writeEntries(dist);
await bundled("sandbox/lane/thread.js", ["isolated-vm"]);
await bundled("sandbox/process/main.js", []);
await bundled("sandbox/process/pool-worker.js", ["@napi-rs/nice"], piscinaWorker);
cpSync(join(dirname(piscinaWorker), "../LICENSE"), join(dist, "sandbox/process/LICENSE.piscina"));
// `creel hook` is a process per event of an agent: one file instead of ten.
await bundled("cli/hook/main.js", [/run\.js$/]);
for (const file of unreachable(dist, JSON.parse(readFileSync("package.json", "utf8")) as Parameters<typeof unreachable>[1]))
  rmSync(join(dist, file));

/** Declarations that import an optional peer compile without it, also with `skipLibCheck: false`. tsc drops such a comment from the sources. */
function tolerateMissingPeers(): void {
  const { peerDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { peerDependencies: Record<string, string> };
  const imports = new RegExp(`^import .* from "(?:${Object.keys(peerDependencies).join("|")})";`, "gm");
  for (const file of globSync("**/*.d.ts", { cwd: dist })) {
    const text = readFileSync(join(dist, file), "utf8");
    if (imports.test(text)) writeFileSync(join(dist, file), text.replaceAll(imports, "// @ts-ignore: an optional peer\n$&"));
  }
}

/** Replaces a module by itself and all that it imports. */
async function bundled(file: string, external: (string | RegExp)[], input = join(dist, file)): Promise<void> {
  await using bundle = await rolldown({ input, platform: "node", external, logLevel: "warn", plugins: [builtins, ownWorker, lazyAssert] });
  await bundle.write({ file: join(dist, file), format: "esm" });
}
