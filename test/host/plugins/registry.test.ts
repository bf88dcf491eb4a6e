/** The plans of a required plugin that has not registered what it was accepted with. */
import { expect, it } from "vitest";
import { acceptedHook } from "../../../src/host/plugins/permissions.ts";
import type { Plugin } from "../../../src/host/plugins/plugin.ts";
import { Registry } from "../../../src/host/plugins/registry.ts";
import { CATALOG } from "../../../src/protocol/catalog.ts";
import { ownError } from "../../../src/host/run/guest-error.ts";

const accepted = (...hooks: readonly string[]): Plugin =>
  ({
    id: "guard",
    isRequired: true,
    acceptedHooks: new Set(hooks.map((hook) => acceptedHook(hook, 0))),
    knownHooks: hooks.map((hook) => ({ hook, options: {} })),
    diagnostics: [],
  }) as unknown as Plugin;
const HOME = {} as Parameters<Registry["set"]>[1];
const codes = (registry: Registry, hook: string) => registry.plan(hook).map(({ failure, absent }) => [failure, absent?.code]);

it("the gate stays shut when the plugin is loaded again and that load fails", () => {
  const registry = new Registry(CATALOG);
  const guard = accepted("before_tool_call");
  registry.set(guard, HOME, { handlers: [] });
  expect(codes(registry, "before_tool_call")).toEqual([["closed", "ERR_CALL_REFUSED"]]);
  registry.remove(guard);
  registry.set(guard, HOME, { handlers: [] }, ownError("ERR_CALL_NOT_LOADED", { detail: "it threw" }));
  expect(codes(registry, "before_tool_call")).toEqual([["closed", "ERR_CALL_REFUSED"]]);
  expect(registry.isWhole).toBe(false);
});

it("an internal event that the operator has switched off is not missing", () => {
  const guard = accepted("command:new");
  const registration = { handlers: [{ hook: "command:new", options: {} }] } as unknown as Parameters<Registry["set"]>[2];
  const off = new Registry(CATALOG, false);
  const said = off.set(guard, HOME, registration);
  expect(said).toEqual([expect.stringContaining("switched off by hooks.internal.enabled")]);
  expect([codes(off, "command:new"), off.isWhole]).toEqual([[], true]);
});
