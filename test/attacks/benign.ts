/**
 * The innocent plugins that share a host with the attacks, the calls the gateway makes to them, and the one right answer to
 * each. They are of the kinds a gateway really has: a gate, two that rewrite the same message, an observer that keeps
 * state, one that waits for a timer or asks the gateway, one that uses the services an attack may flood. A handler that is called a second time says so in the log.
 */
import { isDeepStrictEqual } from "node:util";
import type { Host, Outcome, PluginSpec } from "creel";
import { DRIVEN_PLUGINS } from "./drives.ts";

/** The log line of a handler that was called again, after the sandbox had died under the first call. */
export const RETRIED = "retried";

const PLUGINS = {
  "policy-gate": `
    api.on("before_tool_call", (event, ctx) => {
      again(ctx);
      if (event.params.command.startsWith("rm ")) return { block: true, blockReason: "refused: " + event.params.command };
      return { params: { checked: event.params.n } };
    }, { matcher: ["shell"] });`,
  rewriter: `api.on("message_sending", (event, ctx) => { again(ctx); return { content: event.content.toUpperCase() }; }, { priority: 10 });`,
  ledger: `
    const born = Math.random();
    let count = 0;
    api.on("after_tool_call", (event, ctx) => { again(ctx); count += 1; });
    api.on("before_tool_call", () => ({ params: { born, count } }), { matcher: ["ledger"] });`,
  lookup: `
    api.on("before_tool_call", async (event, ctx) => {
      again(ctx);
      if (event.toolName === "nap") await new Promise((resolve) => setTimeout(resolve, 2));
      else return { params: { found: (await api.session.get("benign:" + event.params.n)).value } };
    }, { matcher: ["lookup", "nap"] });`,
  keeper: `
    api.on("before_tool_call", async (event, ctx) => {
      again(ctx);
      if (event.toolName === "recall") return { params: { found: (await api.kv.get("k")) ?? "nothing" } };
      const digest = await crypto.subtle.digest("SHA-256", new Uint8Array(10));
      return { params: { bytes: digest.byteLength } };
    }, { matcher: ["recall", "digest"] });`,
  signer: `api.on("message_sending", (event, ctx) => { again(ctx); return { content: event.content + " -- signed" }; });`,
} as const;

export type BenignId = keyof typeof PLUGINS;

const AGAIN = `const again = (ctx) => { if (ctx.attempt > 1) api.logger.info("${RETRIED}"); };`;

export const BENIGN: readonly PluginSpec[] = Object.entries(PLUGINS).map(([id, body]) => ({
  id,
  source: `export default (api) => { ${AGAIN} ${body} };`,
  grants: { session: ["get"], kv: true },
}));

/** Those of the load, and those that attacks are driven beside. */
export const INNOCENT: readonly PluginSpec[] = [...BENIGN, ...DRIVEN_PLUGINS];

export const isInnocent = (id: string): boolean => INNOCENT.some((one) => one.id === id);

/** The gateway's part in `lookup`. */
export const lookedUp = (n: number): string => `value ${n}`;

type Seen = Pick<Outcome, "decision" | "result" | "by" | "reason"> & { readonly calls: readonly string[] };

export interface BenignCall {
  readonly name: string;
  run(host: Host, n: number): Promise<Outcome>;
  /** The right answer. */
  right(n: number): Seen;
}

const passed = (calls: readonly string[], result?: unknown): Seen => ({
  decision: "pass",
  result,
  by: undefined,
  reason: undefined,
  calls,
});
const tool = (host: Host, toolName: string, params: Record<string, unknown>): Promise<Outcome> =>
  host.run("before_tool_call", { toolName, params });

export const OBSERVED = "observe";

export const BENIGN_CALLS: readonly BenignCall[] = [
  {
    name: "allow",
    run: (host, n) => tool(host, "shell", { command: "ls", n }),
    right: (n) => passed(["policy-gate:ok"], { params: { command: "ls", n, checked: n } }),
  },
  {
    name: "rewrite twice",
    run: (host, n) => host.run("message_sending", { to: "user", content: `hello ${n}` }, { channelId: "chat" }),
    right: (n) => passed(["rewriter:ok", "signer:ok"], { content: `HELLO ${n} -- signed` }),
  },
  {
    name: OBSERVED,
    run: (host, n) => host.run("after_tool_call", { toolName: "shell", params: { n } }),
    right: () => passed(["ledger:ok"]),
  },
  {
    name: "ask the gateway",
    run: (host, n) => tool(host, "lookup", { n }),
    right: (n) => passed(["lookup:ok"], { params: { n, found: lookedUp(n) } }),
  },
  {
    name: "block",
    run: (host, n) => tool(host, "shell", { command: `rm ${n}`, n }),
    right: (n) => ({
      decision: "block",
      result: { block: true, blockReason: `refused: rm ${n}` },
      by: "policy-gate",
      reason: `refused: rm ${n}`,
      calls: ["policy-gate:ok"],
    }),
  },
  {
    name: "read the store",
    run: (host, n) => tool(host, "recall", { n }),
    right: (n) => passed(["keeper:ok"], { params: { n, found: "nothing" } }),
  },
  {
    name: "make a digest",
    run: (host, n) => tool(host, "digest", { n }),
    right: (n) => passed(["keeper:ok"], { params: { n, bytes: 32 } }),
  },
  {
    name: "wait for a timer",
    run: (host, n) => tool(host, "nap", { n }),
    right: () => passed(["lookup:ok"]),
  },
];

const IDS: ReadonlySet<string> = new Set(BENIGN.map(({ id }) => id!));

/** An attack that does not load has a line in every run, and was not called. */
function isOfCall({ plugin, status, wallMs }: Outcome["calls"][number]): boolean {
  return status !== "skipped" && (IDS.has(plugin) || wallMs > 0);
}

/** What is wrong with an answer, in a line; undefined when it is right. Handlers that were not concerned do not count. */
export function mistake(call: BenignCall, n: number, { decision, result, by, reason, calls }: Outcome): string | undefined {
  const seen: Seen = {
    decision,
    result,
    by,
    reason,
    calls: calls.filter(isOfCall).map(({ plugin, status }) => `${plugin}:${status}`),
  };
  const right = call.right(n);
  return isDeepStrictEqual(seen, right) ? undefined : `${call.name}: ${JSON.stringify(seen)} instead of ${JSON.stringify(right)}`;
}

/** What the observer has counted since its cell was born. */
export async function askLedger(host: Host): Promise<{ readonly born: number; readonly count: number }> {
  const { result } = await host.run("before_tool_call", { toolName: "ledger", params: {} });
  return result?.params as { born: number; count: number };
}
