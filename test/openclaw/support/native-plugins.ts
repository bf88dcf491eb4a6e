/** Plugins for OpenClaw as their authors write them. Each is a folder below the gateway's `extensions`. */
const MANIFEST = { version: "1.0.0", configSchema: { type: "object", additionalProperties: true }, activation: { onStartup: true } };

function plugin(id: string, body: string, manifest: object = {}): Record<string, string> {
  return {
    "package.json": JSON.stringify({ name: id, version: "1.0.0", type: "module", openclaw: { extensions: ["./index.js"] } }),
    "openclaw.plugin.json": JSON.stringify({ id, name: id, ...MANIFEST, ...manifest }),
    "index.js": `export default { id: "${id}", name: "${id}", register(api) { ${body} } };`,
  };
}

/** Blocks, rewrites, asks, redacts, and has a tool, a command and a method. */
const GUARD = `
  const forbid = api.pluginConfig?.forbid ?? "forbidden";
  api.on("before_tool_call", (event) => {
    const text = JSON.stringify(event.params);
    if (text.includes(forbid)) return { block: true, blockReason: "guard says no to " + forbid };
    // Not about the search by which a model calls the tool.
    if (text.includes("ask-me") && event.toolName === "lobster_weight") return {
      params: { ...event.params, name: "asked" },
      requireApproval: { title: "May it?", description: "guard asks", severity: "warning", onResolution: (d) => { api.logger.info("guard heard " + d); } },
    };
    if (text.includes("rewrite-me")) return { params: { ...event.params, name: "rewritten" } };
  }, { priority: 50 });
  api.on("tool_result_persist", (event) => {
    const text = JSON.stringify(event.message);
    if (text.includes("s3cret")) return { message: JSON.parse(text.replaceAll("s3cret", "[redacted]")) };
  });
  api.registerTool({
    name: "lobster_weight", label: "Lobster", description: "Weighs a lobster",
    parameters: { type: "object", properties: { name: { type: "string" }, note: { type: "string" } } },
    async execute(id, params) { return { content: [{ type: "text", text: "weight of " + params.name + ": 3 s3cret" }], details: {} }; },
  });
  api.registerCommand({ name: "lobster", description: "says something", acceptsArgs: true, handler: (ctx) => ({ text: "lobster says: " + (ctx.args ?? "") }) });
  api.registerGatewayMethod("lobster.status", ({ respond }) => respond(true, { mood: "calm", where: typeof process.binding }));
`;

/** Patches the session whenever it is patched. */
const LOOPER = `
  let patches = 0;
  api.registerHook("session:patch", async (event) => {
    patches += 1;
    await api.session.patch({ key: event.sessionKey, label: "loop " + patches });
  }, { name: "looper-patch" });
  api.registerTool({ name: "loop_count", label: "Loops", description: "Counts", parameters: { type: "object", properties: {} },
    async execute() { return { content: [{ type: "text", text: "patches: " + patches }], details: {} }; } });
`;

/**
 * Changes prompts, runs, replies and dispatches where the text asks for it, and keeps the names of what it was told: also of events that
 * OpenClaw does not have, and of the one that it removed.
 */
const OBSERVER = `
  const seen = [];
  const note = (name, about) => void seen.push(about === undefined ? name : name + " " + about);
  api.on("before_prompt_build", () => ({ prependContext: "the tide is in" }));
  api.on("before_agent_start", () => { note("before_agent_start"); return { prependContext: "and the boats are out" }; });
  api.on("before_agent_run", (event) => JSON.stringify(event).includes("stay-ashore") ? { outcome: "block", reason: "observer keeps it ashore", message: "Stay ashore." } : undefined);
  api.on("before_dispatch", (event) => JSON.stringify(event).includes("claim-me") ? { handled: true, text: "observer took it" } : undefined);
  api.on("message_sending", (event) => event.content.includes("observe-me") ? { content: event.content + " (observed)" } : undefined);
  for (const key of ["session:start", "session:end"]) api.registerHook(key, (event) => note(key, event.context?.stopReason), { name: "observer-" + key });
  for (const key of ["tool:start", "tool:result"]) api.registerHook(key, (event) => note(key, event.context?.toolName), { name: "observer-" + key });
  api.on("cron_changed", (event) => note("cron_changed", event.action));
  api.on("beforeTurn", (event) => { note("beforeTurn"); });
  api.on("afterTurn", (event) => { note("afterTurn", event.usage ? "with its usage" : "without usage"); });
  api.registerGatewayMethod("observer.seen", ({ respond }) => respond(true, { seen }));
  api.registerHttpRoute({ path: "/observer/tide", auth: "gateway", match: "exact", handler: async (request, response) => {
    response.statusCode = 203;
    response.end(JSON.stringify({ where: typeof process.binding, headers: request.headers }));
    return true;
  } });
  api.registerCli(({ program }) => program.command("tide").argument("<port>").action((port) => console.log("high water in " + port + ", " + typeof process.binding)),
    { commands: ["tide"], descriptors: [{ name: "tide", description: "says when the water is high", hasSubcommands: false }] });
`;

/** Never comes back, takes all memory, or asks after the guard has. */
const HOG = `api.on("before_tool_call", (event) => {
  const text = JSON.stringify(event.params);
  if (text.includes("hog-now")) for (;;);
  if (text.includes("hog-memory")) for (const all = [];;) all.push(new Array(1e5).fill(all.length));
  if (text.includes("hog-asks")) return { requireApproval: { title: "Hog?", description: "hog asks" } };
});`;

export const NATIVE = {
  guard: plugin("guard", GUARD, { contracts: { tools: ["lobster_weight"] } }),
  looper: plugin("looper", LOOPER, { contracts: { tools: ["loop_count"] } }),
  hog: plugin("hog", HOG),
  observer: plugin("observer", OBSERVER),
} as const;

/** Takes part in a turn with a tool call by eight hooks, and changes what it may. */
export const METER = plugin(
  "meter",
  `
  api.on("message_received", () => {});
  api.on("before_agent_run", () => {});
  api.on("before_prompt_build", () => ({ prependContext: "the tide is in" }));
  api.on("llm_input", () => {});
  api.on("before_tool_call", (event) => ({ params: { ...event.params } }));
  api.on("after_tool_call", () => {});
  api.on("tool_result_persist", (event) => ({ message: event.message }));
  api.on("agent_end", () => {});
`,
);
