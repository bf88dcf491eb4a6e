/** Before anything is accepted, nothing connects to where a package says: not Creel, not npm, not a git that npm would start. */
import { execFile } from "node:child_process";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fetchPlugin } from "../../../src/install/fetch/fetch.ts";
import { resolve } from "../../../src/install/fetch/npm.ts";
import { keptToRegistries } from "../../../src/install/fetch/npm-reach.ts";
import { folder } from "../../support/files.ts";
import { openRegistry } from "../../support/registry.ts";
import type { Registry } from "../../support/registry.ts";
import { listener, operator, pluginFolder } from "../pipeline.ts";

let registry: Registry;
let connections = 0;
const trap = createServer((socket) => {
  connections += 1;
  socket.destroy();
});
/** By another name than the registry's: a proxy must be able to tell them apart. */
let place: string;

beforeAll(async () => {
  registry = await openRegistry();
  await new Promise<void>((done) => trap.listen(0, "localhost", done));
  place = `localhost:${(trap.address() as AddressInfo).port}`;
});
afterAll(async () => {
  trap.close();
  await registry[Symbol.asyncDispose]();
});

const SPECS = {
  http: () => `http://${place}/latest/meta-data/iam`,
  "git over http": () => `git+http://${place}/x.git`,
  git: () => `git://${place}/x.git`,
  ssh: () => `git+ssh://git@${place}/x.git`,
};
const KINDS = Object.entries(SPECS);

describe("a package whose dependency is an address", () => {
  it("the trap sees who connects", async () => {
    await fetch(SPECS.http()).catch(() => {});
    expect(connections).toBe(1);
    connections = 0;
  });

  it.each(KINDS)("is refused by name before npm runs: %s, in every field that npm would follow", async (_, spec) => {
    for (const field of ["dependencies", "optionalDependencies", "peerDependencies"]) {
      const path = pluginFolder({ id: "weather" }, listener("llm_input"), {
        "package.json": JSON.stringify({ name: "weather", version: "1.0.0", [field]: { evil: spec() } }),
      });
      const asked = registry.requests.length;
      await expect(operator().install(path, undefined, { env: registry.env })).rejects.toMatchObject({
        code: "ERR_INSTALL_SPEC",
        message: `weather needs "evil" as "${spec()}", which is not a version, a tag or an alias of a registry`,
      });
      expect([registry.requests.length - asked, connections]).toEqual([0, 0]);
    }
  });

  it.each(KINDS)("of a package that it needs is not followed by npm: %s", async (kind, spec) => {
    const name = `middle-${kind.replaceAll(" ", "-")}`;
    await registry.publish({ name, version: "1.0.0", dependencies: { evil: spec() } }, { "index.js": "" });
    await expect(resolve({ [name]: "^1.0.0" }, folder({}), { env: registry.env })).rejects.toMatchObject({ code: "ERR_INSTALL_NPM" });
    expect(connections).toBe(0);
  });

  it.each(KINDS)("that is optional is left alone: %s", async (kind, spec) => {
    const name = `optional-${kind.replaceAll(" ", "-")}`;
    await registry.publish({ name, version: "1.0.0", optionalDependencies: { evil: spec() } }, { "index.js": "" });
    await resolve({ [name]: "^1.0.0" }, folder({}), { env: registry.env }).catch(() => {});
    expect(connections).toBe(0);
  });

  it("and only used to develop it does not matter", async () => {
    const path = folder({
      "package.json": JSON.stringify({ name: "weather", version: "1.0.0", devDependencies: { evil: SPECS.ssh(), local: "file:../x" } }),
    });
    const { dependencies } = await fetchPlugin({ kind: "folder", path }, folder({}), { env: registry.env });
    expect([dependencies, connections]).toEqual([[], 0]);
  });

  it("an alias and a range still lead to the registry", async () => {
    await registry.publish({ name: "leaf", version: "1.2.0" }, { "index.js": "" });
    const found = await resolve({ other: "npm:leaf@^1.0.0" }, folder({}), { env: registry.env });
    expect(found).toMatchObject([{ path: "node_modules/other", name: "leaf", version: "1.2.0" }]);
  });
});

const old = (more = {}) => ({ registry: "http://127.0.0.1:4873/", "@acme:registry": "https://npm.acme.example/", proxy: null, ...more });

describe("an npm without options against addresses", () => {
  it("is sent through a proxy that is not there, except to its registries", () => {
    const flags = keptToRegistries(old(), {});
    expect(flags).toContain("--noproxy=127.0.0.1,npm.acme.example");
    expect(flags.filter((flag) => /^--(?:https-)?proxy=http:\/\/127\.0\.0\.1:0/.test(flag))).toHaveLength(2);
  });

  it("connects to no other host by that", async () => {
    await registry.publish({ name: "leads-away", version: "1.0.0", dependencies: { evil: SPECS.http() } }, { "index.js": "" });
    const flags = keptToRegistries(old({ registry: registry.env.npm_config_registry }), {});
    const settings = flags.map((flag) => /^--([a-z-]+)=(.*)$/.exec(flag)!).map(([, name, value]) => [`npm_config_${name}`, value!]);
    // As an older npm would be: the options that it does not have say nothing.
    const env = {
      ...registry.env,
      ...Object.fromEntries(settings),
      npm_config_allow_remote: "all",
      npm_config_cache: join(folder({}), "c"),
    };
    const cwd = folder({ "package.json": JSON.stringify({ private: true, dependencies: { "leads-away": "1.0.0" } }) });
    const run = promisify(execFile)("npm", ["install", "--package-lock-only"], { cwd, env: { ...process.env, ...env } });
    await expect(run).rejects.toThrow(/ECONNREFUSED|EADDRNOTAVAIL/);
    expect(connections).toBe(0);
  });

  it("that must use a proxy is refused", () => {
    for (const [config, env] of [
      [old({ proxy: "http://proxy.example" }), {}],
      [old({ "https-proxy": "http://proxy.example" }), {}],
      [old(), { HTTPS_PROXY: "http://proxy.example" }],
    ] as const)
      expect(() => keptToRegistries(config, env)).toThrow("cannot be kept from following addresses");
  });
});
