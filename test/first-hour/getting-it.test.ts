/**
 * Getting Creel (G1 to G5 of the report): a Node that is too old hears one sentence, from whatever it was started with; a good one runs the packed
 * package. Tried with an older Node of this machine; where there is none, those tests are skipped, and only the sentence itself is tested.
 */
import { execFile } from "node:child_process";
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { nodeProblem } from "../../src/node-version.ts";
import { folder } from "../support/files.ts";
import { hasNpm, oldNode } from "../support/old-node.ts";
import { packedCreel } from "../support/packed.ts";
import { Person } from "./person.ts";

const REPOSITORY = join(import.meta.dirname, "../..");
const SENTENCE = /Creel needs Node 24 or newer; this is v\d+\.\d+\.\d+\. Install it with: npm install node@24 \(or nvm install 24\)/;

const old = oldNode();

interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}
/** Not the working folder: npm writes its log there, and would pack it while it grows. */
const home = folder({});
const run = async (command: string, args: readonly string[], cwd: string): Promise<Said> => {
  const env = { PATH: [dirname(old!), "/usr/bin", "/bin"].join(delimiter), HOME: home };
  return promisify(execFile)(command, [...args], { cwd, env }).then(
    (said) => ({ code: 0, ...said }),
    (error: Said) => error,
  );
};

it("Yarn's Plug'n'Play is refused with a sentence that says what to set", () => {
  expect(nodeProblem("24.0.0", "3")).toContain('set "nodeLinker: node-modules" in .yarnrc.yml');
});

it.each(["24.0.0", "24.21.0", "25.1.0", "100.0.0"])("Node %s will do", (version) => {
  expect(nodeProblem(version)).toBeUndefined();
});

it.each(["23.11.1", "20.20.2", "9.0.0"])("Node %s is told what is needed, what it is, and how to get it", (version) => {
  expect(nodeProblem(version)).toMatch(SENTENCE);
});

describe.skipIf(old === undefined)("an older Node, if this machine has one", () => {
  let shipped = "";
  beforeAll(async () => {
    shipped = (await packedCreel()).root;
  }, 180_000);

  it.each(["doctor", "serve", "install", "list", "demo", "--help", "--version"])("G4 creel %s says it, and nothing else", async (verb) => {
    const { code, stdout, stderr } = await run(old!, [join(shipped, "dist/cli/main.js"), verb], shipped);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(new RegExp(`^creel: ${SENTENCE.source}\n$`));
  });

  it.each([
    ["import", "entry.js"],
    ["import of creel/testing", "testing-entry.js"],
    ["import of creel/console", "console-entry.js"],
    ["import of creel/openclaw", "openclaw-entry.js"],
    ["import of creel/console/tools", "console-tools-entry.js"],
  ])("G4 an %s says it instead of what it cannot parse", async (_, entry) => {
    const { code, stderr } = await run(
      old!,
      ["--input-type=module", "-e", `import ${JSON.stringify(join(shipped, "dist", entry))};`],
      shipped,
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(SENTENCE);
    expect(stderr).not.toMatch(/SyntaxError|node:sqlite/);
  });

  it("authors' types need no Node in particular", async () => {
    const text = `import ${JSON.stringify(join(shipped, "dist/sdk/author/plugin.js"))}; console.log("fine");`;
    expect(await run(old!, ["--input-type=module", "-e", text], shipped)).toMatchObject({ code: 0, stdout: "fine\n" });
  });

  it.skipIf(!hasNpm(old))(
    "G2 npm install says it and ends, before anything that it brings along is built",
    async () => {
      const packed = JSON.parse(readFileSync(join(shipped, "package.json"), "utf8")) as Record<string, unknown>;
      // Without packages from a registry; one that has something to build stands for them.
      const creel = folder({ "package.json": JSON.stringify({ ...packed, dependencies: {}, devDependencies: {}, overrides: {} }) });
      mkdirSync(join(creel, "scripts"));
      copyFileSync(join(REPOSITORY, "scripts/preinstall.cjs"), join(creel, "scripts/preinstall.cjs"));
      const built = join(folder({}), "built");
      const compiled = folder({
        "package.json": JSON.stringify({
          name: "needs-a-compiler",
          version: "1.0.0",
          scripts: { install: `node -e "require('fs').writeFileSync(${JSON.stringify(built).replaceAll('"', "'")}, '')"` },
        }),
      });
      const app = folder({});
      const npm = join(dirname(old!), "npm");
      for (const one of [creel, compiled]) {
        const { code, stderr } = await run(npm, ["pack", "--ignore-scripts", "--offline", "--pack-destination", app], one);
        expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
      }
      const dependencies = { creel: `file:creel-${String(packed.version)}.tgz`, "needs-a-compiler": "file:needs-a-compiler-1.0.0.tgz" };
      writeFileSync(join(app, "package.json"), JSON.stringify({ name: "app", dependencies }));
      const { code, stderr } = await run(npm, ["install", "--offline", "--no-audit", "--no-fund"], app);
      expect(code).not.toBe(0);
      expect(stderr).toMatch(SENTENCE);
      expect(existsSync(built)).toBe(false);
    },
    120_000,
  );

  it("G1 in Creel's own repository an installation goes on: it brings the right Node along", async () => {
    // What `npm start` runs first has to be read by the old Node, too. It is not run: it would install.
    expect(await run(old!, ["--check", join(REPOSITORY, "scripts/setup.mjs")], REPOSITORY)).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(await run(old!, [join(REPOSITORY, "scripts/preinstall.cjs")], REPOSITORY)).toEqual({ code: 0, stdout: "", stderr: "" });
  });
});

it.skipIf(old !== undefined)("no older Node was found on this machine: only the sentence was tested", () => {
  expect(old).toBeUndefined();
});

it("G3 the tarball is small, has no sources and tests, and runs where only its dependencies are", { timeout: 120_000 }, async () => {
  const me = await Person.begin();
  const { root, tarball, version } = await packedCreel();
  expect(await me.creel("--version")).toMatchObject({ code: 0, out: `${version}\n` });
  expect(statSync(tarball).size).toBeLessThan(3_500_000);
  expect(globSync(["src", "test", "**/*.test.ts"], { cwd: root })).toEqual([]);
});

it("G5 the README says how to install it, and how to run it before it is published", () => {
  const readme = readFileSync(join(REPOSITORY, "README.md"), "utf8");
  const [, install = ""] = /^## Install\n([^]*?)^## /m.exec(readme) ?? [];
  for (const words of ["npm install node@24 creel", "npx creel", "npm pack"]) expect(install).toContain(words);
});

it("every number of the report is a check of this folder", () => {
  const texts = globSync("*.test.ts", { cwd: import.meta.dirname }).map((file) => readFileSync(join(import.meta.dirname, file), "utf8"));
  const named = new Set(
    texts.flatMap((text) => Array.from(text.matchAll(/"((?:[GOAD]\d+ )+)/g), ([, all]) => all!.trim().split(" ")).flat()),
  );
  const wanted = Object.entries({ G: 5, O: 15, A: 11, D: 9 }).flatMap(([letter, last]) =>
    Array.from({ length: last }, (_, at) => `${letter}${at + 1}`),
  );
  expect(wanted.filter((number) => !named.has(number))).toEqual([]);
});
