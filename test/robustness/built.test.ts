/**
 * The package as it is shipped. Only there can the sandbox run without a compiler, and only then has it a limit on its addresses; sources need
 * WebAssembly to be run.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import type { Findings } from "../../src/cli/doctor/examine.ts";
import { capabilities } from "../../src/host/supervisor/launch/probe.ts";
import { appFolder, packedCreel } from "../support/packed.ts";
import { familyOf } from "../support/walls.ts";

/** The memory that was asked for, and what Node and one lane take before they do anything. */
const ADDRESS_BYTES = (512 + 1_536 + 96) * 2 ** 20;
const SANDBOX = { jitless: true, memoryMb: 512 };

const GATEWAY = `
import { openHost } from "creel";
const source = 'export default (api) => { api.on("tool_result_persist", () => ({ message: { compiler: typeof WebAssembly } })); };';
const host = await openHost({ lanes: 1, config: { sandbox: ${JSON.stringify(SANDBOX)} }, plugins: [{ id: "a", source }] });
console.log(JSON.stringify({ result: host.runSync("tool_result_persist", { message: {} }).result, pids: host.pids() }));
setInterval(() => {}, 1_000);
`;

let root: string;
let main: string;
beforeAll(async () => {
  root = await appFolder({ "creel.json": JSON.stringify({ sandbox: SANDBOX }), "gateway.mjs": GATEWAY });
  main = join((await packedCreel()).root, "dist/cli/main.js");
}, 120_000);

describe("the built package", () => {
  it("runs a plugin behind the same walls, without a compiler", async () => {
    const args = [main, "doctor", "--json", "--config", join(root, "creel.json")];
    // The exit code tells of the machine, not of the package.
    const { stdout } = await promisify(execFile)(process.execPath, args).catch((error: { stdout: string }) => error);
    const { sandbox, layers, flags } = JSON.parse(stdout) as Findings;
    expect(sandbox).toMatchObject({ answers: true });
    expect(flags).toContain("--jitless");
    const isOn = Object.fromEntries(layers.map((layer) => [layer.name, layer.isOn]));
    expect(isOn).toMatchObject({ jitless: true, permission: true, hardening: true });
    // As on sources.
    expect(isOn.memoryHard).toBe(isOn.dumps);
  }, 60_000);

  it("answers synchronous runs, and the kernel keeps the limit on its addresses", async () => {
    const gateway = spawn(process.execPath, [join(root, "gateway.mjs")], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const [line] = (await once(createInterface({ input: gateway.stdout }), "line")) as [string];
      const { result, pids } = JSON.parse(line) as { result: unknown; pids: number[] };
      expect(result).toEqual({ message: { compiler: "undefined" } });
      const node = pids.flatMap(familyOf).at(-1);
      const limits = readFileSync(`/proc/${node}/limits`, "utf8");
      const [addresses, core] = capabilities().tools.prlimit === undefined ? ["\\w+", "\\w+"] : [ADDRESS_BYTES, 0];
      expect(limits).toMatch(new RegExp(`^Max address space +${addresses} +${addresses} `, "m"));
      expect(limits).toMatch(new RegExp(`^Max core file size +${core} +${core} `, "m"));
    } finally {
      gateway.kill("SIGKILL");
      await once(gateway, "close");
    }
  }, 60_000);
});
