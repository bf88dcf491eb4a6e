/**
 * Bundling happens in a child process that a plugin's text may crash: which plugin is blamed, which are not, and what
 * the process may read.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, vi } from "vitest";
import { bundleFile, bundleText } from "../../src/bundler/bundle.ts";
import { Bundler } from "../../src/bundler/bundler.ts";
import type { BundlerOptions } from "../../src/bundler/bundler.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import { folder, linkModules } from "../support/files.ts";
import { isAlive } from "../support/process.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PLAYED = fileURLToPath(new URL("fixtures/played-bundler.ts", import.meta.url));
const DEEP = "(".repeat(5_000);
const made: Bundler[] = [];
afterEach(async () => {
  await Promise.all(made.splice(0).map((bundler) => bundler.rest()));
});

function bundlerWith(options: Partial<BundlerOptions> = {}): { bundler: Bundler; bundle: (text: string) => Promise<string> } {
  const bundler = new Bundler({ idleMs: 60_000, ...options });
  made.push(bundler);
  const cwd = process.cwd();
  const bundle = async (text: string) => (await bundler.bundle({ cwd, input: "plugin.ts", hasText: true }, text)).code;
  return { bundler, bundle };
}
const played = (options: Partial<BundlerOptions> = {}) => bundlerWith({ entry: PLAYED, ...options });
/** What became of each: its code, or the code of its error. */
const fates = async (bundles: readonly Promise<string>[]): Promise<string[]> =>
  (await Promise.allSettled(bundles)).map((one) => (one.status === "fulfilled" ? one.value : (one.reason as { code: string }).code));

/** A separate gateway: prints its bundler's pid when it has reached the state. */
const gateway = (state: "idle" | "busy") =>
  spawn(
    process.execPath,
    [
      "--input-type=module-typescript",
      "-e",
      `import { Bundler } from ${JSON.stringify(join(ROOT, "src/bundler/bundler.ts"))};
       const bundler = new Bundler({ idleMs: 600_000 });
       const bundle = (text) => bundler.bundle({ cwd: process.cwd(), input: "plugin.ts", hasText: true }, text);
       await bundle("export const a = 1");
       if (${state === "busy"}) void bundle("export default [" + "[1],".repeat(1_000_000) + "]");
       console.log(bundler.pids()[0]);`,
    ],
    { stdio: ["ignore", "pipe", "inherit"], cwd: ROOT },
  );

const secret = folder({ "secret.json": `{ "key": "s3cr3t" }`, "lib/other.js": "export default 's3cr3t'" });
const bundled = (files: Record<string, string>, prepare: (root: string) => void = () => {}) => {
  const root = folder(files);
  prepare(root);
  return bundleFile(root, join(root, "index.ts"));
};
const linkFile = (root: string) => symlinkSync(join(secret, "secret.json"), join(root, "mine.json"));
const linkFolder = (root: string) => symlinkSync(secret, join(root, "lib"));

const OUTSIDE = /^the plugin could not be bundled: \S+ is not a file of the plugin's folder, or of a package in node_modules$/;

describe("a bundler that crashes", () => {
  it("fails the plugin it was working on, by name, and none that waits behind it", async () => {
    const { bundle } = bundlerWith();
    const [first, deep, second] = await Promise.allSettled([bundle("export const a = 1"), bundle(DEEP), bundle("export const b = 2")]);
    expect([first, second]).toMatchObject([{ value: expect.stringContaining("a = 1") }, { value: expect.stringContaining("b = 2") }]);
    expect(deep).toMatchObject({ reason: { code: "ERR_PLUGIN_BUNDLE_CRASH", params: { detail: "SIGSEGV" } } });
    await expect(bundleText(DEEP)).rejects.toThrow('the plugin "plugin.ts" could not be bundled: the bundler crashed on it (SIGSEGV)');
  });

  it("every plugin that crashes one is blamed for that one, however many there are", async () => {
    const { bundle } = played();
    expect(await fates(["exit", "a", "exit", "exit", "b"].map((text) => bundle(text)))).toEqual([
      "ERR_PLUGIN_BUNDLE_CRASH",
      "a",
      "ERR_PLUGIN_BUNDLE_CRASH",
      "ERR_PLUGIN_BUNDLE_CRASH",
      "b",
    ]);
  });

  it("is reported with the end of its error output", async () => {
    await expect(played().bundle("exit")).rejects.toMatchObject({ params: { detail: "exit code 3: last words" } });
  });

  it("while it was idle is blamed on no plugin, and replaced", async () => {
    const { bundler, bundle } = bundlerWith();
    await bundle("export const a = 1");
    const [pid] = bundler.pids();
    process.kill(pid!, "SIGKILL");
    expect(await bundle("export const b = 2")).toContain("b = 2");
    expect(bundler.pids()).not.toContain(pid);
  });

  it("before it has begun, again and again, is the bundler's own failure", async () => {
    await expect(played().bundle("vanish")).rejects.toMatchObject({ code: "ERR_BUNDLER_START", params: { detail: "exit code 4" } });
  });

  it("or does not exist, fails all that wait, with a message for the operator", async () => {
    const { bundle } = bundlerWith({ entry: join(folder({}), "nowhere.js") });
    expect(await fates([bundle("a"), bundle("b")])).toEqual(["ERR_BUNDLER_START", "ERR_BUNDLER_START"]);
  });
});

describe("limits of a bundle", () => {
  it("one that takes too long is stopped, and the next one is made", async () => {
    const { bundler, bundle } = played({ wallMs: 2_000 });
    const hanging = bundle("hang");
    const behind = bundle("behind");
    const [pid] = bundler.pids();
    await expect(hanging).rejects.toMatchObject({ code: "ERR_PLUGIN_BUNDLE_LIMIT", params: { limit: "2000 ms" } });
    expect(await behind).toBe("behind");
    await vi.waitFor(() => expect(isAlive(pid!)).toBe(false));
  });

  it("one that takes too much memory is stopped", async () => {
    await expect(played({ memoryMb: 1 }).bundle("hang")).rejects.toMatchObject({
      code: "ERR_PLUGIN_BUNDLE_LIMIT",
      params: { limit: "1 MB of memory" },
    });
  });

  it("one that is slow does not hold up the others", async () => {
    const { bundler, bundle } = played({ wallMs: 60_000 });
    const hanging = bundle("hang");
    expect(await bundle("other")).toBe("other");
    expect(bundler.pids()).toHaveLength(2);
    for (const pid of bundler.pids()) process.kill(pid, "SIGKILL");
    await expect(hanging).rejects.toMatchObject({ code: "ERR_PLUGIN_BUNDLE_CRASH" });
  });

  it("many are shared out among two processes, a few are left to one", async () => {
    const few = played();
    const fewBundles = ["a", "b", "c"].map((text) => few.bundle(text));
    expect(few.bundler.pids()).toHaveLength(1);
    const many = played();
    const texts = Array.from({ length: 60 }, (_, n) => `${n}`);
    const manyBundles = texts.map((text) => many.bundle(text));
    expect(many.bundler.pids()).toHaveLength(2);
    expect(await Promise.all([...fewBundles, ...manyBundles])).toEqual(["a", "b", "c", ...texts]);
  });

  it("a bundle that is too large is refused with its size", async () => {
    const text = `export default "${"x".repeat(LIMITS.bundler.bundleBytes)}"`;
    await expect(bundleText(text)).rejects.toMatchObject({ code: "ERR_PLUGIN_SIZE", params: { limit: LIMITS.bundler.bundleBytes } });
  });

  it("what lies in node_modules does not count; what is imported from there does, by the name of its package", async () => {
    const root = folder({
      "index.js": `import { small } from "large"; export default () => small;`,
      "whole.js": `import "large/whole.js"; import "large/more.js"; export default () => {};`,
      "node_modules/large/package.json": `{ "name": "large", "main": "index.js" }`,
      "node_modules/large/index.js": `exports.small = "small";`,
      "node_modules/large/whole.js": "",
      "node_modules/large/more.js": "",
      "used.js": `import "filled"; export default () => {};`,
      "node_modules/filled/package.json": `{ "name": "filled", "main": "index.js" }`,
      "node_modules/filled/index.js": `globalThis.filled = "${"x".repeat(LIMITS.bundler.bundleBytes)}";`,
    });
    // Holes: nobody reads so many bytes.
    for (const name of ["whole.js", "more.js"]) truncateSync(join(root, "node_modules/large", name), LIMITS.bundler.inputBytes);
    expect((await bundleFile(root, join(root, "index.js"))).code).toContain("small");
    await expect(bundleFile(root, join(root, "whole.js"))).rejects.toThrow(/its files have more than \d+ bytes \(large (?:64|128)\.0 MB/);
    await expect(bundleFile(root, join(root, "used.js"))).rejects.toThrow(
      `but the limit is ${LIMITS.bundler.bundleBytes} (filled ${(LIMITS.bundler.bundleBytes / 1024 / 1024).toFixed(1)} MB, `,
    );
  });

  it("files that are too large are refused before they are read", async () => {
    const root = folder({ "index.js": `/*${"x".repeat(LIMITS.bundler.inputBytes)}*/` });
    await expect(bundleFile(root, join(root, "index.js"))).rejects.toThrow(`its files have more than ${LIMITS.bundler.inputBytes} bytes`);
  });
});

describe("a bundler that breaks the protocol", () => {
  it.each(["nonsense", "ready", "no frame", "oversized"])("answers with %s: it is killed, and its plugin fails", async (text) => {
    const { bundler, bundle } = played();
    const failing = bundle(text);
    const behind = bundle("behind");
    const [pid] = bundler.pids();
    await expect(failing).rejects.toMatchObject({
      code: "ERR_PLUGIN_BUNDLE_CRASH",
      params: { detail: "its answer broke the protocol" },
    });
    expect(await behind).toBe("behind");
    await vi.waitFor(() => expect(isAlive(pid!)).toBe(false));
  });

  it("answers twice: the second answer is not taken for that of the next plugin", async () => {
    const { bundle } = played();
    expect(await Promise.all([bundle("twice"), bundle("next")])).toEqual(["first", "next"]);
  });
});

describe("the process", () => {
  it("has an empty environment", async () => {
    const { bundler, bundle } = bundlerWith();
    await bundle("export const a = 1");
    expect(readFileSync(`/proc/${bundler.pids()[0]}/environ`, "utf8")).toBe("");
  });

  it("serves one plugin after the other, and ends by itself when none has come for a while", async () => {
    const { bundler, bundle } = bundlerWith({ idleMs: 100 });
    const starting = bundle("export const a = 1");
    const [pid] = bundler.pids();
    const behind = bundle("export const b = 2");
    expect(bundler.pids()).toEqual([pid]);
    await Promise.all([starting, behind]);
    await vi.waitFor(() => expect([bundler.pids(), isAlive(pid!)]).toEqual([[], false]), { timeout: 10_000 });
  });

  it("does not keep its gateway alive when it has nothing to do, and goes with it", async () => {
    const child = gateway("idle");
    const [[line], [code]] = (await Promise.all([once(createInterface({ input: child.stdout }), "line"), once(child, "exit")])) as [
      [string],
      [number],
    ];
    expect(code).toBe(0);
    await vi.waitFor(() => expect(isAlive(Number(line))).toBe(false), { timeout: 5_000, interval: 20 });
  });

  it("exits when its gateway is killed, whatever its parser is doing", async () => {
    const child = gateway("busy");
    const exited = once(child, "exit");
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    child.kill("SIGKILL");
    await exited;
    await vi.waitFor(() => expect(isAlive(Number(line))).toBe(false), { timeout: 5_000, interval: 20 });
  });

  it("is where the bundler is loaded: the gateway's process never does", async () => {
    const child = spawn(
      process.execPath,
      [
        "-C",
        "source",
        "--input-type=module-typescript",
        "-e",
        `import { openHost } from "creel";
         await using host = await openHost({ isolation: "thread", lanes: 1, plugins: [{ id: "a", source: "export default () => {}" }] });
         process.report.excludeNetwork = true;
         const loaded = process.report.getReport().sharedObjects.filter((path) => path.includes("node_modules"));
         console.log(JSON.stringify([host.inspect("a").status, loaded]));`,
      ],
      { stdio: ["ignore", "pipe", "inherit"], cwd: ROOT },
    );
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    const [status, loaded] = JSON.parse(line) as [string, string[]];
    expect(status).toBe("ready");
    // The control: isolated-vm is on the list.
    expect(loaded.map((path) => /isolated-vm|rolldown/.exec(path)?.[0])).toEqual(["isolated-vm"]);
  });
});

describe("what a bundle may be made of", () => {
  it("files of its own folder, JSON and text among them", async () => {
    const { code } = await bundled({
      "index.ts": `import { a } from "./lib/a.js"; import b from "./b.json"; import c from "./c.txt"; export default [a, b, c];`,
      "lib/a.ts": `export const a: string = "from a";`,
      "b.json": `{ "from": "b" }`,
      "c.txt": "from c",
    });
    expect(code).toMatch(/from a[^]*from: "b"[^]*from c/);
  });

  it("packages, through a link too", async () => {
    const { code } = await bundled({ "index.ts": `export { default } from "p-timeout";` }, linkModules);
    expect(code).toContain("milliseconds");
  });

  it.each([
    ["by its absolute path", `import x from ${JSON.stringify(join(secret, "secret.json"))}; export default x;`],
    ["by a relative path", `import x from ${JSON.stringify(`..${secret.slice(secret.lastIndexOf("/"))}/secret.json`)}; export default x;`],
    ["with require", `export default require(${JSON.stringify(join(secret, "secret.json"))});`],
    ["with import()", `export default () => import(${JSON.stringify(join(secret, "lib/other.js"))});`],
  ])("no file from outside, asked for %s", async (_, text) => {
    await expect(bundled({ "index.ts": text })).rejects.toThrow(OUTSIDE);
  });

  it("no file from outside through a link in its folder", async () => {
    await expect(bundled({ "index.ts": `import x from "./mine.json"; export default x;` }, linkFile)).rejects.toThrow(OUTSIDE);
    await expect(bundled({ "index.ts": `import x from "./lib/secret.json"; export default x;` }, linkFolder)).rejects.toThrow(OUTSIDE);
  });

  it("no file from outside as the entry", async () => {
    await expect(bundleFile(folder({}), join(secret, "lib/other.js"))).rejects.toThrow(OUTSIDE);
  });

  it("no file of a name with a query, which the bundler would cut off", async () => {
    const text = `import x from ${JSON.stringify(`${join(secret, "secret.json")}?raw`)}; export default x;`;
    await expect(bundled({ "index.ts": text })).rejects.toMatchObject({ code: "ERR_PLUGIN_BUNDLE" });
  });

  it("no tsconfig.json, neither the plugin's own nor one that it extends", async () => {
    const outside = folder({});
    // Nothing is ever written into it, so a reader waits for ever.
    execFileSync("mkfifo", [join(outside, "tsconfig.json")]);
    const extending = JSON.stringify({ extends: join(outside, "tsconfig.json") });
    const react = JSON.stringify({ compilerOptions: { jsx: "react", jsxFactory: "fromTheConfig" } });
    const text = `import { x } from "pkg"; export default x;`;
    const files = {
      "index.ts": text,
      "node_modules/pkg/package.json": `{"main":"index.ts"}`,
      "node_modules/pkg/index.ts": "export const x = 1;",
    };
    const bundle = await bundled({ ...files, "tsconfig.json": extending, "node_modules/pkg/tsconfig.json": extending });
    expect(bundle.code).toContain("1");
    await expect(
      bundled({ "index.ts": `import "./x.tsx";`, "x.tsx": "export default <a />;", "tsconfig.json": react }),
    ).resolves.toMatchObject({
      code: expect.not.stringContaining("fromTheConfig") as string,
    });
  });

  it("given as text: no file of the gateway's folder, but packages", async () => {
    expect(existsSync("package.json")).toBe(true);
    await expect(bundleText(`import x from "./package.json"; export default x;`)).rejects.toThrow(OUTSIDE);
    expect((await bundleText(`export { default } from "p-timeout";`)).code).toContain("milliseconds");
  });
});

describe("bundles of the same text", () => {
  it("are made once", async () => {
    const text = `export default "the same ${Date.now()}"`;
    const [first, second] = await Promise.all([bundleText(text), bundleText(text)]);
    expect([second, await bundleText(text)]).toEqual([first, first]);
    expect(await bundleText(text)).toBe(first);
  });

  it("are made again if files are in them, which may have changed", async () => {
    const text = `export { default } from "p-timeout";`;
    expect(await bundleText(text)).not.toBe(await bundleText(text));
  });

  it("that failed are tried again", async () => {
    const text = `export default [`;
    const errors = await Promise.all([1, 2].map(async () => bundleText(text).catch((error: unknown) => error)));
    expect(errors).toMatchObject([{ code: "ERR_PLUGIN_BUNDLE" }, { code: "ERR_PLUGIN_BUNDLE" }]);
    expect(await bundleText(text).catch((error: unknown) => error)).not.toBe(errors[0]);
  });

  it("that is empty, or has only comments, is a bundle all the same", async () => {
    expect(await bundleText("")).toMatchObject({ map: expect.stringContaining('"mappings":""') });
    expect(await bundleText("// nothing")).toMatchObject({ bytes: expect.any(Number) });
  });
});
