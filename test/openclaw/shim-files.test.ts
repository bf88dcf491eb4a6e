/** A shim must hold its gates shut whatever is missing, and must not bring anything for OpenClaw to copy. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { folder, QUICK } from "../support/files.ts";
import { checkShim, readShim, shimFilesOf, shimFolder, shimIn, writeShim } from "../../src/openclaw/shim-files.ts";
import type { ShimFacts } from "../../src/openclaw/shim-facts.ts";

const facts = (more: Partial<ShimFacts> = {}): ShimFacts => ({
  version: 1,
  id: "guard",
  name: "Guard",
  creel: "0.1.0",
  bridge: join(QUICK, "not-there/bridge.js"),
  stateDir: "/state",
  hooks: [
    { hook: "before_tool_call", priority: 50, options: {}, wallMs: 15_000, failure: "closed" },
    { hook: "message_sending", priority: 0, options: {}, wallMs: 15_000, failure: "open" },
    { hook: "before_agent_run", priority: 0, options: {}, wallMs: 15_000, failure: "closed" },
  ],
  functions: [{ kind: "tool", name: "weigh", about: {} }],
  ...more,
});

type Registered = { hook: string; handler: () => unknown; priority: number };

async function register(dir: string): Promise<{ registered: Registered[]; errors: string[] }> {
  const registered: Registered[] = [];
  const errors: string[] = [];
  const { default: plugin } = (await import(`${pathToFileURL(join(dir, "index.mjs")).href}?${Math.random()}`)) as {
    default: { id: string; register(api: object): void };
  };
  plugin.register({
    id: "guard",
    logger: { error: (message: string) => errors.push(message) },
    on: (hook: string, handler: () => unknown, { priority }: { priority: number }) => registered.push({ hook, handler, priority }),
  });
  return { registered, errors };
}

describe("a shim", () => {
  const files = shimFilesOf(facts(), { configSchema: { type: "object", properties: { forbid: { type: "string" } } } });

  it("has the plugin's id and configuration schema, names its tools, and depends on nothing", () => {
    const manifest = JSON.parse(files["openclaw.plugin.json"]!) as object;
    expect(manifest).toMatchObject({
      id: "guard",
      configSchema: { properties: { forbid: { type: "string" } } },
      contracts: { tools: ["weigh"] },
    });
    expect(manifest).not.toHaveProperty("cliCommands");
    const shipped = JSON.parse(files["package.json"]!) as object;
    expect(Object.keys(shipped).filter((key) => /dependencies/i.test(key))).toEqual([]);
    const imports = [...files["index.mjs"]!.matchAll(/^import .* from "(.*)"/gm)].map(([, name]) => name);
    expect(imports).toEqual(["node:fs", "node:module"]);
  });

  it("names its command lines, by which OpenClaw knows whom to load for one: as the plugin's manifest does, or as it registered them", () => {
    const functions = [{ kind: "cli" as const, name: "tide", about: { description: "says when" } }];
    const named = (cliCommands?: object[]): unknown => {
      const { "openclaw.plugin.json": text } = shimFilesOf(facts({ functions }), cliCommands ? { cliCommands } : {});
      return (JSON.parse(text!) as { cliCommands?: unknown }).cliCommands;
    };
    expect(named()).toEqual([{ name: "tide", description: "says when", hasSubcommands: true }]);
    const own = [{ name: "tide", description: "its own words", hasSubcommands: false }];
    expect(named(own)).toEqual(own);
  });

  it.each([
    ["Creel's module is missing", () => {}],
    ["shim.json is missing", (dir: string) => rmSync(join(dir, "shim.json"))],
    ["shim.json is not JSON", (dir: string) => writeFileSync(join(dir, "shim.json"), "{")],
  ])("registers throwing stand-ins for its gates when %s", async (_, harm) => {
    const dir = join(folder({}, QUICK), "guard");
    writeShim(dir, files);
    harm(dir);
    const { registered, errors } = await register(dir);
    expect(registered.map(({ hook, priority }) => [hook, priority])).toEqual([
      ["before_tool_call", 50],
      ["before_agent_run", 0],
    ]);
    for (const { handler } of registered) expect(handler).toThrow("its gates stay shut");
    expect(errors).toHaveLength(1);
  });

  it("finds its facts beside itself when the built package writes it, too: the build changes what looks like this module's own address", () => {
    const source = readFileSync(join(import.meta.dirname, "../../src/openclaw/shim-files.ts"), "utf8");
    expect(source).not.toContain(["import", "meta", "url"].join("."));
    expect(files["index.mjs"]).toContain(`new URL("./shim.json", ${["import", "meta", "url"].join(".")})`);
  });

  it("registers again after the folder that it was loaded from is gone", async () => {
    const dir = join(folder({}, QUICK), "guard");
    const bridge = join(folder({ "bridge.cjs": "exports.shim = (facts, api) => api.logger.error(facts.id);" }, QUICK), "bridge.cjs");
    writeShim(dir, shimFilesOf(facts({ bridge }), {}));
    const { default: plugin } = (await import(`${pathToFileURL(join(dir, "index.mjs")).href}?again`)) as {
      default: { register(api: object): void };
    };
    rmSync(dir, { recursive: true });
    const lines: string[] = [];
    plugin.register({ logger: { error: (line: string) => lines.push(line) } });
    expect(lines).toEqual(["guard"]);
  });

  it("is found among OpenClaw's paths, and every change of it is noticed", () => {
    const stateDir = folder({}, QUICK);
    const dir = shimFolder(stateDir, "guard", files);
    writeShim(dir, files);
    expect(shimIn(["/elsewhere", dir], stateDir, "guard")).toBe(dir);
    expect(shimIn(["/elsewhere"], stateDir, "guard")).toBeUndefined();
    expect(checkShim(dir, files)).toBeUndefined();
    expect(readShim(dir)).toEqual(facts());
    writeFileSync(join(dir, "index.mjs"), `${readFileSync(join(dir, "index.mjs"), "utf8")}//`);
    expect(checkShim(dir, files)).toBe("index.mjs was changed");
    rmSync(join(dir, "shim.json"));
    expect(checkShim(dir, files)).toBe("shim.json is missing");
    expect(readShim(dir)).toBeUndefined();
  });
});
