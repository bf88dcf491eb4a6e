// For `npm run compat`: runs a plugin's bundle in Node, without Creel, and says what it declares and what its handlers return.
// Reads { code, own, facts, events, sdk } as JSON from standard input; see record.ts. Run by it in namespaces without network.
import { createRequire } from "node:module";
import { mkdirSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";

const { code, own, facts, events, sdk } = JSON.parse(readFileSync(0, "utf8"));
const STUB = "creel:absent/";
const require = createRequire(`${sdk}/package.json`);
const quiet = () => {};
for (const [path, , kind, content] of JSON.parse(own || "[]")) {
  if (kind === "x") continue;
  const file = `/plugin/${path}`;
  mkdirSync(kind === "d" ? file : dirname(file), { recursive: true });
  if (kind !== "d") writeFileSync(file, kind === "u" ? content : Buffer.from(content, "base64"));
}
const logger = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet };
for (const name of Object.keys(logger)) if (name in console) console[name] = quiet;
console.log = quiet;
// A plugin's background work may fail; here nobody waits for it.
process.on("unhandledRejection", quiet);
process.on("uncaughtException", quiet);

const handlers = [];
const declares = { tools: [], commands: [], methods: [], services: [] };
const services = [];
const on = (hook, handler, options) => handlers.push({ hook, handler, priority: options?.priority ?? 0 });
const named = (kind, name) => typeof name === "string" && !declares[kind].includes(name) && declares[kind].push(name);

const members = {
  ...facts,
  logger,
  config: facts.config ?? {},
  on,
  registerHook: (hooks, handler, options) => {
    for (const hook of [hooks].flat())
      on(hook, (event, context) => handler({ ...event, timestamp: new Date(event.timestamp ?? 0) }, context), options);
  },
  registerTool: (tool) => {
    let one = tool;
    if (typeof tool === "function") one = tool({ config: {}, pluginConfig: facts.pluginConfig, logger });
    for (const each of [one].flat()) if (typeof each?.execute === "function") named("tools", each.name);
  },
  registerCommand: (command) => named("commands", command?.name),
  registerGatewayMethod: (name) => named("methods", name),
  registerService: (service) => {
    named("services", service?.id);
    services.push(service);
  },
  resolvePath: (path) => path.replace(/^~(?=\/|$)/, process.env.HOME),
  runtime: watched({
    version: "2026.9.6",
    config: watched({ current: () => facts.config, loadConfig: () => facts.config }),
    logging: watched({ shouldLogVerbose: () => false, getChildLogger: () => logger }),
    state: watched({ resolveStateDir: () => `${process.env.HOME}/.openclaw` }),
    events: watched({ onAgentEvent: () => quiet }),
  }),
  session: watched({
    get: async () => undefined,
    patch: async () => undefined,
    state: watched({}),
    workflow: watched({ enqueueNextTurnInjection: quiet }),
    controls: watched({}),
  }),
  agent: watched({ events: watched({ emitAgentEvent: quiet, registerAgentEventSubscription: quiet }) }),
  lifecycle: watched({}),
  runContext: watched({ setRunContext: quiet, getRunContext: quiet, clearRunContext: quiet }),
  ...Object.fromEntries(
    ["setRunContext", "getRunContext", "clearRunContext", "emitAgentEvent", "enqueueNextTurnInjection"].map((name) => [name, quiet]),
  ),
};

/** As in Creel: names that register something do nothing, others are not there. */
function watched(target) {
  return new Proxy(target, {
    get: (_, key) => (typeof key !== "string" || key in target ? target[key] : /^(?:register|on)[A-Z]/.test(key) ? quiet : undefined),
  });
}

function load(name) {
  const plain = name.startsWith(STUB) ? name.slice(STUB.length) : name;
  // This release of OpenClaw has no module of this name any more; what older plugins take from it is in these.
  if (plain === "openclaw/plugin-sdk") return { ...require(`${plain}/core`), ...require(`${plain}/plugin-entry`) };
  // Creel's bundles take zod from the SDK.
  return require(plain === "openclaw/plugin-sdk/zod" ? "zod" : plain);
}

const waited = (work, ms) => Promise.race([work, new Promise((_, reject) => setTimeout(() => reject(new Error("took too long")), ms))]);

async function main() {
  const module = { exports: {} };
  // oxlint-disable-next-line typescript/no-implied-eval -- the bundle is the body of a CommonJS module
  new Function("exports", "module", "require", code)(module.exports, module, load);
  let plugin = module.exports;
  for (let depth = 0; depth < 3 && plugin?.default && !(depth > 0 && (plugin.register ?? plugin.activate)); depth++)
    plugin = plugin.default;
  const api = watched(members);
  await waited(typeof plugin === "function" ? plugin(api) : (plugin.register ?? plugin.activate).call(plugin, api), 10_000);
  const surroundings = { config: facts.config, stateDir: `${process.env.HOME}/.openclaw`, logger };
  for (const service of services)
    await waited(
      Promise.resolve().then(() => service?.start?.(surroundings)),
      3_000,
    ).catch(quiet);
  const hooks = {};
  for (const hook of [...new Set(handlers.map((one) => one.hook))].toSorted((a, b) => (a < b ? -1 : 1))) {
    if (!(hook in events)) continue;
    hooks[hook] = [];
    for (const given of events[hook]) {
      const said = [];
      for (const { handler } of handlers.filter((one) => one.hook === hook).toSorted((a, b) => b.priority - a.priority)) {
        const { event, context } = structuredClone(given);
        try {
          const returned = await waited(handler(event, context), 8_000);
          said.push(returned === undefined || returned === null ? {} : { returned: JSON.parse(JSON.stringify(returned)) });
        } catch (error) {
          said.push({ threw: String(error?.message ?? error) });
        }
      }
      hooks[hook].push(said);
    }
  }
  return { declares, hooks };
}

const answer = await main().catch((error) => ({ error: `${error?.stack ?? error}` }));
writeSync(1, `\n${JSON.stringify(answer)}\n`);
process.exit(0);
