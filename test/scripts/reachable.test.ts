/** The package holds what something loads, and all of it: copies that were bundled into chunks are not shipped beside them. */
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { unreachable } from "../../scripts/reachable.ts";
import { folder } from "../support/files.ts";
import { packedCreel } from "../support/packed.ts";

describe("the packed package", () => {
  let root = "";
  beforeAll(async () => {
    ({ root } = await packedCreel());
  }, 120_000);

  it("has no module that nothing reaches from an entry point, a thread or a process", () => {
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Parameters<typeof unreachable>[1];
    expect(unreachable(join(root, "dist"), manifest)).toEqual([]);
  });

  it("has every file that its modules import", () => {
    const imports = globSync("dist/**/*.js", { cwd: root, exclude: ["dist/console/assets/**", "dist/sandbox/guest.bundle.js"] }).flatMap(
      (file) =>
        Array.from(
          readFileSync(join(root, file), "utf8").matchAll(/^(?:import|export)\b[^;"]*?"(\.[^"]+)";|\bimport\("(\.[^"]+)"\)/gm),
          (found) => join(dirname(file), found[1] ?? found[2]!),
        ),
    );
    expect(imports.length).toBeGreaterThan(200);
    expect(imports.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

it("a module that only an unreachable one imports is unreachable; a thread that a source starts is reachable", () => {
  const dist = folder({
    "install/manifest/schema-thread.js": "",
    "a.js": `export * from "./b.js";`,
    "b.js": "",
    "c.js": `import("./d.js");`,
    "d.js": "",
    "lib/e.js": "",
  });
  expect(unreachable(dist, { bin: {}, exports: { ".": { default: "./dist/a.js" } } })).toEqual(["c.js", "d.js", "lib/e.js"]);
  writeFileSync(join(dist, "a.js"), `await import("./c.js");`);
  expect(unreachable(dist, { bin: { creel: "dist/lib/e.js" }, exports: { ".": { default: "./dist/a.js" } } })).toEqual(["b.js"]);
});
