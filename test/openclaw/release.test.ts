/** An operator lets a plugin out of quarantine in a gateway that runs, by a method that no plugin can take. */
import { afterAll, expect, it } from "vitest";
import { shim } from "../../src/openclaw/bridge.ts";
import type { MethodRequest } from "../../src/openclaw/gateway-api.ts";
import { factsOf, gateway, hook, installed, sdk } from "./support/fake-gateway.ts";
import type { Fake } from "./support/fake-gateway.ts";

type Method = (request: MethodRequest) => Promise<void>;

const all: Fake[] = [];
afterAll(async () => {
  for (const one of all) await one.dispose();
});

/** A gateway with the plugin's shim, and the methods that it registers. */
function registered(id: string, stateDir: string, functions: { kind: "method"; name: string; about: object }[]) {
  const fake = gateway(id, {}, all);
  const methods = new Map<string, { handler: Method; scope: string | undefined }>();
  const registerGatewayMethod = (name: string, handler: Method, { scope }: { scope?: string } = {}): void =>
    void methods.set(name, { handler, scope });
  shim({ ...factsOf(id, stateDir, [hook("before_tool_call")]), functions }, { ...fake.api, registerGatewayMethod }, sdk);
  return { fake, methods };
}

it("a plugin whose gate is shut by the breaker is called again once its method was called, which is an operator's", async () => {
  const body = `api.on("before_tool_call", ({ toolName }) => { if (toolName === "bad") throw new Error("no tide"); });`;
  const stateDir = await installed("guard", body, [{ hook: "before_tool_call", priority: 0 }]);
  const { fake, methods } = registered("guard", stateDir, []);
  const call = (toolName: string) => fake.on.get("before_tool_call")!({ toolName, params: {} }, { toolName });
  expect(await call("exec")).toBeUndefined();
  for (let failures = 0; failures < 15; failures++) await call("bad");
  expect(await call("exec")).toMatchObject({ block: true, blockReason: expect.stringContaining("quarantined until") as string });
  const { handler, scope } = methods.get("creel.release.guard")!;
  const answers: unknown[][] = [];
  await handler({ params: {}, respond: (...answer) => void answers.push(answer) });
  expect([scope, answers]).toEqual(["operator.admin", [[true, { status: "ready", circuit: "closed" }]]]);
  expect(await call("exec")).toBeUndefined();
  await fake.dispose();
  await handler({ params: {}, respond: (...answer) => void answers.push(answer) });
  expect(answers.at(-1)).toEqual([false, undefined, { code: "UNAVAILABLE", message: 'creel: "guard" was unloaded' }]);
});

it("a plugin has no method of Creel's names: the others are there, and the log says which is not", async () => {
  const names = ["creel.release.guard", " creel.release.hog", "tide.status"];
  const methods = names.map((name) => ({ kind: "method" as const, name }));
  const body = names.map((name) => `api.registerGatewayMethod("${name}", ({ respond }) => respond(true, "mine"));`).join("");
  const stateDir = await installed("thief", body, [], { functions: methods });
  const { fake, methods: found } = registered(
    "thief",
    stateDir,
    methods.map((one) => ({ ...one, about: {} })),
  );
  expect([...found.keys()].toSorted()).toEqual(["creel.release.thief", "tide.status"]);
  expect(fake.lines.join("\n")).toContain('thief has a method "creel.release.guard"');
});
