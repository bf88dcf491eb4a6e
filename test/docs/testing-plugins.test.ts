/** The example of docs/guides/testing-plugins.md runs as it is printed, and compiles. */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { folder } from "../support/files.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/guides/testing-plugins.md"), "utf8");
const files = Object.fromEntries(
  Array.from(page.matchAll(/<!-- example: (\S+) -->\n```ts\n([^]*?)```/g), ([, name, text]) => [name!, text!]),
);
const run = promisify(execFile);

it("the example's test passes with Node's own runner, and both files compile", { timeout: 120_000 }, async () => {
  expect(Object.keys(files)).toEqual(["index.ts", "index.test.ts"]);
  const config = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: { rewriteRelativeImportExtensions: false, typeRoots: [join(root, "node_modules/@types")] },
    include: ["*.ts"],
  };
  const where = folder({ ...files, "package.json": '{ "type": "module" }', "tsconfig.json": JSON.stringify(config) });
  mkdirSync(join(where, "node_modules"));
  symlinkSync(root, join(where, "node_modules/creel"));
  const [tested, compiled] = await Promise.all([
    run(process.execPath, ["-C", "source", "--test", "--test-isolation", "none", "--test-reporter", "tap"], { cwd: where }),
    run(join(root, "node_modules/.bin/tsc"), ["-p", where]).catch((error: { stdout: string }) => error),
  ]);
  expect(tested.stdout).toMatch(/# tests 2\n[^]*# pass 2\n/);
  expect(compiled.stdout).toBe("");
});
