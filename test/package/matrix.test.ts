/**
 * The packed tarball with each package manager: installed for real, imported and required, and compiled by strict TypeScript. Needs a registry; without
 * one, that is what the test says.
 */
// With npm, as docs/guides/operating.md says:
// runs: npm install ./creel-0.3.0.tgz
import { exec, execFile } from "node:child_process";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openCreelRegistry } from "../support/creel-registry.ts";
import type { CreelRegistry } from "../support/creel-registry.ts";
import { folder } from "../support/files.ts";
import { hasNpm, oldNode } from "../support/old-node.ts";
import { managerEnv, packedCreel } from "../support/packed.ts";
import { noRegistry } from "../support/real-registry.ts";

const run = promisify(execFile);
const shell = promisify(exec);
const ROOT = join(import.meta.dirname, "../..");
const SOURCE = `export default (api) => api.on("before_tool_call", () => ({ block: true, blockReason: "no" }));`;
const OPEN = `openHost({ isolation: "thread", lanes: 1, plugins: [{ id: "no", source: ${JSON.stringify(SOURCE)} }] })`;
const ASKS = `.then(async (host) => { console.log((await host.run("before_tool_call", { toolName: "t", params: {} })).decision); await host.close(); })`;
const GATEWAY = `import { defineHook, openHost, z } from "creel";
import type { Host } from "creel";
const ping = defineHook({ name: "ping", kind: "observe", summary: "", event: z.object({ n: z.number() }), context: z.object({}), result: z.object({}) });
export async function gate(): Promise<"pass" | "block"> {
  await using host = await openHost({ isolation: "thread", hooks: { ping } });
  host.emit("ping", { n: 1 });
  // @ts-expect-error the event has a number
  host.emit("ping", { n: "1" });
  return (await host.run("before_tool_call", { toolName: "exec", params: {} })).decision;
}
export type Any = Host;
`;
const PLUGIN = `import { definePlugin } from "creel/plugin";
export default definePlugin({ id: "a", name: "a", register(api) { api.on("before_tool_call", (event) => event.toolName === "x" ? { block: true, blockReason: "x" } : undefined); } });
`;
const FILES = {
  "esm.mjs": `import { openHost } from "creel";\nawait ${OPEN}${ASKS};\n`,
  "cjs.cjs": `const { openHost } = require("creel");\n${OPEN}${ASKS};\n`,
  "gateway.mts": GATEWAY,
  "gateway.cts": `import creel = require("creel");\nexport const open: typeof creel.openHost = creel.openHost;\n`,
  "plugin.mts": PLUGIN,
};
const TSCONFIG = {
  target: "es2024",
  lib: ["es2024", "esnext.disposable"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
  types: ["node"],
  typeRoots: [join(ROOT, "node_modules/@types")],
};
const RESOLUTIONS = {
  nodenext: { module: "nodenext", moduleResolution: "nodenext" },
  bundler: { module: "preserve", moduleResolution: "bundler" },
};

const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
const TARBALL = `creel-${version}.tgz`;

interface Manager {
  readonly package: string | undefined;
  readonly install: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
}
const MANAGERS: Readonly<Record<string, Manager>> = {
  // The page's command: the tarball lies in the folder.
  npm: { package: undefined, install: ["npm", "install", `./${TARBALL}`] },
  pnpm: { package: "pnpm@10", install: ["pnpm", "install", "--prefer-offline"] },
  yarn: {
    package: "@yarnpkg/cli-dist@4",
    install: ["yarn", "install"],
    files: { ".yarnrc.yml": "nodeLinker: node-modules\nenableTelemetry: false\n", "yarn.lock": "" },
  },
};
const PNP = { ".yarnrc.yml": "nodeLinker: pnp\nenableTelemetry: false\n", "yarn.lock": "" };

let env: Record<string, string> = {};
let tarball = "";
/** Why nothing can be installed; undefined: something can. */
let unreached: string | undefined;
beforeAll(async () => {
  env = await managerEnv({ CI: "1", YARN_ENABLE_IMMUTABLE_INSTALLS: "0" });
  ({ tarball } = await packedCreel());
  const { stdout } = await run("npm", ["config", "get", "registry"], { env, cwd: folder({}) });
  env.YARN_NPM_REGISTRY_SERVER ??= stdout.trim();
  if (env.YARN_NPM_REGISTRY_SERVER.startsWith("http:")) env.YARN_UNSAFE_HTTP_WHITELIST = "*";
  unreached = await noRegistry("zod", env);
}, 120_000);

async function installed(manager: Manager): Promise<string> {
  const app = folder({
    "package.json": JSON.stringify({
      name: "app",
      private: true,
      ...(manager.package !== undefined && { dependencies: { creel: `file:${tarball}` } }),
    }),
    ...FILES,
    ...manager.files,
  });
  cpSync(tarball, join(app, TARBALL));
  const command =
    manager.package === undefined
      ? [...manager.install]
      : ["npm", "exec", "--yes", `--package=${manager.package}`, "--", ...manager.install];
  await run(command[0]!, command.slice(1), { cwd: app, env, timeout: 150_000, maxBuffer: 2 ** 24 });
  return app;
}

describe.each(Object.entries(MANAGERS))("installed by %s", (name, manager) => {
  let app = "";
  beforeAll(async () => {
    if (unreached === undefined) app = await installed(manager);
  }, 180_000);

  it("decides in a program that imports it, and in one that requires it", { timeout: 60_000 }, async (test) => {
    test.skip(unreached !== undefined, unreached);
    for (const file of ["esm.mjs", "cjs.cjs"]) {
      const { stdout } = await run(process.execPath, [file], { cwd: app, env });
      expect([file, stdout.trim()]).toEqual([file, "block"]);
    }
    const bin = join(app, "node_modules/.bin/creel");
    const { stdout } = await run(bin, ["--version"], { cwd: app, env });
    expect(stdout.trim()).toBe(version);
    expect(existsSync(join(app, "node_modules/creel/dist/index.d.ts"))).toBe(true);
  });

  it.runIf(name === "npm")(
    "tells its version and examines the machine, by the commands of README.md and docs/guides/operating.md",
    async (test) => {
      test.skip(unreached !== undefined, unreached);
      const here = { cwd: app, env };
      expect((await shell("npx creel --version", here)).stdout.trim()).toBe(version);
      // Exit code 1 where no walls can be built.
      const said = await shell("npx creel doctor", here).catch((error: { stdout: string }) => error);
      expect(said.stdout).toMatch(/^(?:Everything is ok|FAIL)/m);
      expect(said.stdout).toContain("a plugin answered from inside the sandbox");
    },
  );

  it.for(Object.entries(RESOLUTIONS))(
    "compiles under strict TypeScript with %s",
    { timeout: 60_000 },
    async ([resolution, options], test) => {
      test.skip(unreached !== undefined, unreached);
      const files = resolution === "bundler" ? ["gateway.mts", "plugin.mts"] : ["gateway.mts", "plugin.mts", "gateway.cts"];
      const project = folder({});
      const config = { compilerOptions: { ...TSCONFIG, ...options }, files: files.map((file) => join(app, file)) };
      writeFileSync(join(project, "tsconfig.json"), JSON.stringify(config));
      const compiled = await run(join(ROOT, "node_modules/.bin/tsc"), ["-p", project]).catch((error: { stdout: string }) => error);
      expect([name, compiled.stdout]).toEqual([name, ""]);
    },
  );
});

describe("once it is published", () => {
  let registry: CreelRegistry | undefined;
  let here: Record<string, string> = {};
  beforeAll(async () => {
    if (unreached !== undefined) return;
    registry = await openCreelRegistry(await packedCreel(), env.YARN_NPM_REGISTRY_SERVER!);
    here = { ...env, npm_config_registry: registry.url, npm_config_prefer_offline: "true" };
  });
  afterAll(() => registry?.[Symbol.asyncDispose]());
  const app = { "package.json": JSON.stringify({ name: "app", private: true }) };

  const old = oldNode();
  it(
    "the README's line brings Node 24 along where Node is older: what npx runs afterwards is that one",
    { timeout: 180_000 },
    async (test) => {
      test.skip(unreached !== undefined, unreached);
      // The Node that runs the tests is not among them, if there is an older one.
      const path = hasNpm(old) ? [dirname(old), "/usr/bin", "/bin"].join(delimiter) : here.PATH!;
      const at = { cwd: folder(app), env: { ...here, PATH: path }, maxBuffer: 2 ** 24 };
      await shell("npm install node@24 creel", { ...at, timeout: 150_000 });
      expect((await shell("npx creel --version", at)).stdout.trim()).toBe(version);
      const said = await shell("npx creel doctor", at).catch((error: { stdout: string }) => error);
      expect(said.stdout).toContain("a plugin answered from inside the sandbox");
    },
  );

  it("the lines of the pages for gateway developers and for OpenClaw install it, too", { timeout: 180_000 }, async (test) => {
    test.skip(unreached !== undefined, unreached);
    const cwd = folder({});
    await shell("npm init -y && npm install creel", { cwd, env: here, timeout: 80_000, maxBuffer: 2 ** 24 });
    writeFileSync(join(cwd, "esm.mjs"), FILES["esm.mjs"]);
    expect((await run(process.execPath, ["esm.mjs"], { cwd, env: here })).stdout.trim()).toBe("block");
    const prefix = folder({});
    const own = {
      ...here,
      npm_config_prefix: prefix,
      PATH: [join(prefix, "bin"), ...here.PATH!.split(delimiter).slice(1)].join(delimiter),
    };
    await shell("npm install -g creel", { cwd, env: own, timeout: 80_000, maxBuffer: 2 ** 24 });
    expect((await shell("command -v creel && creel --version", { cwd, env: own })).stdout.trim().split("\n")).toEqual([
      join(prefix, "bin/creel"),
      version,
    ]);
  });
});

it("under Yarn's Plug'n'Play the first import says in a sentence what to set", { timeout: 180_000 }, async (test) => {
  test.skip(unreached !== undefined, unreached);
  const app = await installed({ ...MANAGERS.yarn!, files: PNP });
  const command = ["exec", "--yes", "--package=@yarnpkg/cli-dist@4", "--", "yarn", "node", "esm.mjs"];
  const failed = await run("npm", command, { cwd: app, env }).then(
    () => "it ran",
    (error: { stderr: string; stdout: string }) => error.stderr + error.stdout,
  );
  expect(failed).toContain('set "nodeLinker: node-modules" in .yarnrc.yml');
});
