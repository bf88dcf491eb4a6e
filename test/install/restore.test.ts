/** A store that was tampered with is repaired from the same bytes, and what was accepted stays; other bytes are a change, which needs a yes. */
import { chmodSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { restoreInstalled } from "../../src/install/install.ts";
import type { LockEntry } from "../../src/state/lock.ts";
import type { State } from "../../src/state/state.ts";
import { write } from "../support/files.ts";
import { openRegistry } from "../support/registry.ts";
import type { Registry } from "../support/registry.ts";
import { listener, operator, pluginFolder } from "./pipeline.ts";

const ASKS = { kv: { reason: "remembers" }, env: [{ name: "REGION", reason: "where" }] };
const storeOf = (state: State, entry: LockEntry) => join(state.dir, "store", entry.store);

const damage: [string, (folder: string) => void][] = [
  ["a changed bundle", (folder) => change(join(folder, "bundle.js"), "//x")],
  ["a changed review", (folder) => change(join(folder, "review.json"), "{}")],
  ["a changed list of files", (folder) => change(join(folder, "SHA256SUMS"), "")],
  ["a missing file", (folder) => rmSync(join(folder, "manifest.json"))],
  ["a file that was not there", (folder) => writeFileSync(join(folder, "more.js"), "")],
  ["a missing folder", (folder) => rmSync(folder, { recursive: true })],
];

function change(file: string, text: string): void {
  chmodSync(file, 0o644);
  writeFileSync(file, text);
}

const kept = ({ grants, permissions, accepted, enabled, hooks, source, budgets }: LockEntry) => {
  return { grants, permissions, accepted, enabled, hooks, source, budgets };
};

const ask = (): never => {
  throw new Error("nobody should be asked");
};

describe("installing again what is installed", () => {
  it.each(damage)("repairs %s without a question, and keeps grants, refusals and settings", async (_, harm) => {
    const { install, state } = operator();
    const root = pluginFolder({ id: "steady", permissions: ASKS }, listener("llm_input"));
    await install(root, ["kv", "wasm"]);
    await state.transaction((tx) => void tx.update("steady", { enabled: false }));
    const before = (await state.read()).get("steady")!;
    harm(storeOf(state, before));
    await expect(state.load("steady")).rejects.toMatchObject({ code: "ERR_STATE_CHANGED" });
    const { outcome, entry } = await install(root, undefined, { decide: ask });
    expect([outcome, kept(entry!)]).toEqual(["restored", kept(before)]);
    expect((await state.load("steady")).code).toContain("llm_input");
    expect(await install(root, undefined, { decide: ask })).toMatchObject({ outcome: "unchanged" });
  });

  it.each(damage)("asks if its source has other bytes by now: %s", async (_, harm) => {
    const { install, state } = operator();
    const root = pluginFolder({ id: "steady", permissions: ASKS }, listener("llm_input"));
    const { entry: before } = await install(root, ["kv"]);
    harm(storeOf(state, before!));
    write(root, { "index.ts": `${listener("llm_input")} globalThis.other = 1;` });
    const { outcome, review } = await install(root, false);
    expect(outcome).toBe("refused");
    expect(review.remarks.join()).toContain("the installed files were tampered with");
    expect(review.changes).toContainEqual({ sign: "+", what: "code", text: expect.stringContaining("bundle sha256-") as string });
    await expect(state.load("steady")).rejects.toMatchObject({ code: "ERR_STATE_CHANGED" });
  });
});

const files = (text: string) => ({ "openclaw.plugin.json": JSON.stringify({ id: "steady" }), "index.js": text });
const manifest = (version: string) => ({ name: "steady", version, openclaw: { extensions: ["index.js"] } });
const cjs = `module.exports = (api) => { api.on("llm_input", () => {}); };`;

describe("a package from a registry", () => {
  let registry: Registry;
  beforeAll(async () => void (registry = await openRegistry()));
  afterAll(() => registry[Symbol.asyncDispose]());

  it("is restored as the version that is installed, though there is a newer one", async () => {
    await registry.publish(manifest("1.0.0"), files(cjs));
    const { install, state } = operator();
    const { entry } = await install("steady", undefined, { env: registry.env });
    await registry.publish(manifest("2.0.0"), files(`${cjs} // 2`));
    rmSync(storeOf(state, entry!), { recursive: true });
    const options = {
      state,
      config: { sandbox: { walls: "none" as const } },
      base: state.dir,
      by: "a test",
      watchMs: 0,
      env: registry.env,
    };
    const restored = await restoreInstalled(entry!, { ...options, isolation: "thread" });
    expect([restored!.version, restored!.source, existsSync(storeOf(state, restored!))]).toEqual(["1.0.0", entry!.source, true]);
  });
});
