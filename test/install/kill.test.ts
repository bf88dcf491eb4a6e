/** An installation that is killed at any of its steps leaves what was there before, whole, and the next one works. */
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folder, QUICK, write } from "../support/files.ts";
import { listener, operator, pluginFolder } from "./pipeline.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));

describe("an installation that is killed", () => {
  const dir = join(folder({}, QUICK), "state");
  const config = join(folder({ "creel.json": JSON.stringify({ stateDir: dir, sandbox: { walls: "none" } }) }, QUICK), "creel.json");
  const { install, state } = operator(dir);
  const root = pluginFolder({ id: "steady" }, listener("session_end"));
  let digest = "";
  const killers = new Set<() => void>();
  afterAll(() => {
    for (const kill of killers) kill();
  });

  beforeAll(async () => {
    await install(root);
    write(root, {
      "creel.plugin.json": JSON.stringify({ id: "steady", version: "2.0.0" }),
      "index.ts": listener("session_end", "llm_input"),
    });
    ({ digest } = await install(root, false));
  });

  /** Resolves when it is gone. */
  function killedAt(step: string): Promise<void> {
    const args = ["-C", "source", "src/cli/main.ts", "install", root, "--accept", digest, "--config", config];
    const child = spawn(process.execPath, args, { cwd: repository, stdio: ["ignore", "pipe", "inherit"] });
    const kill = () => void child.kill("SIGKILL");
    killers.add(kill);
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes(`→ ${step}`)) kill();
    });
    return new Promise((done, fail) => {
      child.on("close", (code, signal) => {
        killers.delete(kill);
        if (signal === "SIGKILL") done();
        else fail(new Error(`it was not killed at ${step}, and ended with ${code}: ${said}`));
      });
    });
  }

  it.each(["unpack", "bundle", "dry registration"])("at %s has changed nothing", async (step) => {
    const before = (await state.read()).get("steady");
    await killedAt(step);
    expect((await state.read()).get("steady")).toEqual(before);
    expect((await state.load("steady")).code).toContain("session_end");
  });

  it("when it is decided on has changed nothing, or everything; what it left is cleared away by the next", async () => {
    await killedAt("ask guards").catch((error: Error) => {
      // It may be over before it is struck.
      if (!error.message.includes("ended with 0")) throw error;
    });
    expect(["1.0.0", "2.0.0"]).toContain((await state.read()).get("steady")!.version);
    await state.load("steady");
    await install(root);
    expect((await state.read()).get("steady")!.version).toBe("2.0.0");
    await state.collect();
    expect([readdirSync(join(dir, "work")), readdirSync(join(dir, "staging"))]).toEqual([[], []]);
  });
});
