/** The program of docs/guides/gateway-in-100-lines.md compiles under strict TypeScript against the packed package, has at most 100 lines, and runs. */
// runs: node gateway.mts
// What the page asks for with curl, it asks for with fetch.
// runs: curl -d '{"command":"ls"}' localhost:8080/tools/shell
// runs: curl -d '{"command":"rm -rf /"}' localhost:8080/tools/shell
// runs: curl -d '{"command":"git push"}' localhost:8080/tools/shell &
// runs: curl localhost:8080/approvals
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { appEnv, appFolder } from "../support/packed.ts";

const ROOT = join(import.meta.dirname, "../..");
const page = readFileSync(join(ROOT, "docs/guides/gateway-in-100-lines.md"), "utf8");
const [, program = ""] = /<!-- example: gateway.mts -->\n```ts\n([^]*?)```/.exec(page) ?? [];

/** What `npm init -y` writes about modules. */
const NPM_INIT = `{ "name": "app", "main": "index.js", "type": "commonjs" }`;

describe("the gateway in 100 lines", () => {
  let home = "";
  beforeAll(async () => {
    home = await appFolder({ "gateway.mts": program, "package.json": NPM_INIT });
  }, 120_000);

  it("has at most 100 lines and compiles", { timeout: 60_000 }, async () => {
    expect(program.trimEnd().split("\n").length).toBeLessThanOrEqual(100);
    const compilerOptions = {
      target: "es2024",
      lib: ["es2024", "esnext.disposable"],
      module: "nodenext",
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      erasableSyntaxOnly: true,
      noEmit: true,
      types: ["node"],
      typeRoots: [join(ROOT, "node_modules/@types")],
    };
    writeFileSync(join(home, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["gateway.mts"] }));
    const compiled = await promisify(execFile)(join(ROOT, "node_modules/.bin/tsc"), ["-p", home]).catch(
      (error: { stdout: string }) => error,
    );
    expect(compiled.stdout).toBe("");
  });

  it("runs tools, blocks, asks, and ends on SIGTERM", { timeout: 60_000 }, async () => {
    const child = spawn(process.execPath, ["gateway.mts"], {
      cwd: home,
      env: await appEnv({ PORT: "0" }),
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
      const origin = `http://127.0.0.1:${/"port":(\d+)/.exec(line)![1]}`;
      const post = async (path: string, body: object): Promise<unknown> =>
        (await fetch(`${origin}${path}`, { method: "POST", body: JSON.stringify(body) })).json();
      expect(await post("/tools/shell", { command: "ls" })).toEqual({ result: 'would run "ls" in /workspace' });
      expect(await post("/tools/shell", { command: "rm -rf /" })).toEqual({ blocked: "rm -rf is not for agents", by: "guard" });
      const pushed = post("/tools/shell", { command: "git push" });
      let asked: { id: string; title: string }[] = [];
      while (asked.length === 0) asked = (await (await fetch(`${origin}/approvals`)).json()) as typeof asked;
      expect(asked).toMatchObject([{ title: "Push to the repository" }]);
      await post(`/approvals/${asked[0]!.id}`, { allow: false });
      expect(await pushed).toMatchObject({ by: "guard" });
      expect(await (await fetch(`${origin}/plugins`)).json()).toEqual([{ plugin: "guard", status: "ready" }]);
    } finally {
      child.kill();
    }
    const [code] = (await once(child, "exit")) as [number];
    expect(code).toBe(0);
  });
});
