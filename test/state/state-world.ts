/** Plugins that exist only for tests of the state folder: small, and different for every number. */
import type { PluginFacts } from "../../src/state/lock.ts";
import type { State } from "../../src/state/state.ts";

const DIGEST = `sha256-${"A".repeat(43)}=`;

export function factsOf(id: string, n = 0): PluginFacts {
  return {
    id,
    name: `The plugin ${id}`,
    version: `1.0.${n}`,
    source: { spec: `${id}@^1.0.0`, resolved: `https://example.com/${id}-1.0.${n}.tgz`, integrity: DIGEST },
    hooks: [{ hook: "before_tool_call", priority: n }],
    functions: [{ kind: "tool", name: "weather" }],
    grants: { kv: true, fetch: ["https://api.example.com", { origin: "https://other.example.com", methods: ["GET"] }] },
    permissions: { allowConversationAccess: true },
    budgets: {
      plugin: { heapMb: { value: 32, origin: "host" } },
      hooks: { before_tool_call: { wallMs: { value: 500, origin: "author" }, cpuMs: { value: 100, origin: "catalog" } } },
    },
    accepted: { by: "an operator", at: "2026-01-02T03:04:05.678Z", digest: DIGEST },
    enabled: true,
  };
}

export function filesOf(id: string, n = 0, more: Readonly<Record<string, string>> = {}): Map<string, Uint8Array> {
  const texts = {
    "bundle.js": `module.exports = (api) => api.on("before_tool_call", () => ({ note: "${id} ${n}" }));\n`,
    "bundle.js.map": `{"version":3,"sources":["${id}.ts"],"mappings":""}`,
    "manifest.json": JSON.stringify({ id, version: `1.0.${n}` }),
    ...more,
  };
  return new Map(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text)]));
}

/**
 * What is installed, as `id@number`, each loaded and so compared with what was installed. A number with a dash is
 * disabled.
 */
export async function inventory(state: State): Promise<string[]> {
  const entries = [...(await state.read()).values()];
  const found = entries.map(async ({ id, enabled }) => {
    const { code, manifest } = await state.load(id);
    const { version } = manifest as { version: string };
    const n = Number(version.split(".")[2]);
    if (code !== Buffer.from(filesOf(id, n).get("bundle.js")!).toString()) throw new Error(`${id} has another's code`);
    return `${id}@${n}${enabled ? "" : "-"}`;
  });
  return (await Promise.all(found)).toSorted();
}
