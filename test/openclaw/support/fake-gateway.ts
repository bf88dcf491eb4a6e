/** A stand-in for OpenClaw's plugin API, and what a plugin needs to be registered with it: its shim's facts and its files in a store. */
import { join } from "node:path";
import { afterEach } from "vitest";
import type { GatewayApi } from "../../../src/openclaw/gateway-api.ts";
import type { ShimFacts } from "../../../src/openclaw/shim-facts.ts";
import type { PluginFacts } from "../../../src/state/lock.ts";
import { putInstalled } from "../../support/installed.ts";
import { folder, QUICK } from "../../support/files.ts";

type Handler = (event: object, ctx: object) => unknown;
export type Fake = {
  api: GatewayApi;
  /** The last handler of each hook, and all of them. */
  on: Map<string, Handler>;
  all: { hook: string; handler: Handler }[];
  lines: string[];
  config: object;
  dispose(): Promise<void>;
  start(): Promise<void>;
};

const open: Fake[] = [];
afterEach(async () => {
  for (const fake of open.splice(0)) await fake.dispose();
});

/** `all`: who disposes of it; by default it goes with its test. */
export function gateway(id: string, config: object = {}, all: Fake[] = open): Fake {
  const on = new Map<string, Handler>();
  const handlers: Fake["all"] = [];
  const lines: string[] = [];
  const disposers: (() => void | Promise<void>)[] = [];
  const services: { start(): Promise<void> }[] = [];
  const log = (line: string) => void lines.push(line);
  const register = (hook: string, handler: unknown): void => {
    on.set(hook, handler as Handler);
    handlers.push({ hook, handler: handler as Handler });
  };
  const fake: Fake = {
    on,
    all: handlers,
    lines,
    config: { gateway: { auth: { token: "gateway-token" } }, plugins: { entries: { [id]: config } } },
    api: {
      id,
      registrationMode: "full",
      logger: { info: log, warn: log, error: log },
      runtime: { config: { current: () => fake.config } },
      lifecycle: { onDispose: (dispose) => disposers.push(dispose) },
      on: register,
      registerHook: register,
      registerTool: () => {},
      registerCommand: () => {},
      registerGatewayMethod: () => {},
      registerService: (service) => void services.push(service),
    },
    dispose: async () => {
      for (const dispose of disposers.splice(0)) await dispose();
    },
    start: async () => {
      for (const service of services) await service.start();
    },
  };
  all.push(fake);
  return fake;
}

/** A sandbox that starts quickly. */
const LIGHT = join(folder({ "creel.json": `{ "sandbox": { "walls": "none", "spare": false } }` }, QUICK), "creel.json");

export const factsOf = (id: string, stateDir: string, hooks: ShimFacts["hooks"]): ShimFacts => ({
  version: 1,
  id,
  name: id,
  creel: "0.1.0",
  bridge: "/unused",
  stateDir,
  configFile: LIGHT,
  hooks,
  functions: [],
});

export const hook = (name: string, priority = 0, failure: "open" | "closed" = "open") => ({
  hook: name,
  priority,
  options: {},
  wallMs: 5_000,
  failure,
});
export const sdk = () => Promise.reject(new Error("not here"));

type Hooks = readonly { readonly hook: string; readonly priority: number }[];

/** Gives the state folder. `more`: what the operator accepted. */
export async function installed(id: string, body: string, hooks: Hooks, more: Partial<PluginFacts> = {}): Promise<string> {
  const stateDir = folder({}, QUICK);
  await putInstalled(stateDir, id, `export default (api) => { ${body} };`, { hooks: [...hooks], ...more });
  return stateDir;
}
