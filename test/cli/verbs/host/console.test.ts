/** `creel console`: joins the host of the state folder here, prints an address that works once, and serves the page and /metrics. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { defaultSocket } from "../../../../src/sdk/remote/serve-place.ts";
import { CACHE } from "../../../support/creel.ts";
import { creelHere } from "../../../support/cli-in-process.ts";
import { folder } from "../../../support/files.ts";
import { plugin } from "../../../support/host.ts";
import { served } from "../../../support/serve.ts";

const main = join(import.meta.dirname, "../../../../src/cli/main.ts");

it("serves the page of the host that runs here, and leaves nothing behind but the token of its metrics", async () => {
  const dir = folder({ "creel.json": `{ "stateDir": "state" }` });
  await using server = await served({ plugins: [plugin("guard", `api.on("before_tool_call", () => {});`)] });
  const args = ["-C", "source", main, "console", "--json", "--socket", server.socket];
  const child = spawn(process.execPath, args, {
    cwd: dir,
    env: { PATH: process.env.PATH ?? "", HOME: dir, NODE_COMPILE_CACHE: CACHE },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const ready = JSON.parse(line) as { address: string; port: number; tokenFile: string };
  const { origin, hash } = new URL(ready.address);
  expect(await (await fetch(origin)).text()).toContain("<title>Creel</title>");
  const session = await fetch(`${origin}/session`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-creel-console": "1" },
    body: JSON.stringify({ code: hash.slice(1) }),
  });
  expect(await session.json()).toMatchObject({ scopes: ["read", "act"] });
  const authorization = `Bearer ${readFileSync(ready.tokenFile, "utf8").trim()}`;
  expect(await (await fetch(`${origin}/metrics`, { headers: { authorization } })).text()).toContain(
    'creel_runs_total{hook="before_tool_call",decision="pass"} 0',
  );
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  expect([await ended, existsSync(ready.tokenFile)]).toEqual([[0, null], true]);
});

it("without a host, says which socket of which state folder it looked at; a port that is none is a mistake", async () => {
  const dir = folder({});
  for (const verb of ["console", "metrics"]) {
    const options = verb === "console" ? ["--state-dir", dir] : ["--socket", defaultSocket(dir)];
    const { code, err } = await creelHere(verb, ...options);
    expect([verb, code, err.includes(defaultSocket(dir))]).toEqual([verb, 1, true]);
  }
  expect((await creelHere("console", "--port", "99999")).code).toBe(2);
});
