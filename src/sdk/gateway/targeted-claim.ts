/**
 * Trusted side: a claim hook asked of one plugin alone, such as the one that a conversation is bound to. The gateway must tell a
 * plugin that is gone from one that did not want the message, so the answers are OpenClaw's five.
 */
import type { Catalog, ContextOf, EventOf, NamesOfKind, ResultOf } from "../../protocol/catalog.ts";
import type { Host } from "../../host/host-api.ts";

type ClaimHook = NamesOfKind<Catalog, "claim">;

export type TargetedClaim<Result> =
  | { readonly status: "handled"; readonly result: Result }
  /** There is no such plugin, or it is not loaded. */
  | { readonly status: "missing_plugin" }
  | { readonly status: "no_handler" }
  | { readonly status: "declined" }
  /** It claimed nothing, and at least one of its handlers failed: the first one's error, in one line. */
  | { readonly status: "error"; readonly error: string };

/** Rejects for the caller's own mistakes, as `host.run` does. */
export async function targetedClaim<N extends ClaimHook>(
  host: Pick<Host, "run" | "plugins">,
  hook: N,
  plugin: string,
  event: EventOf<Catalog[N]>,
  ctx?: ContextOf<Catalog[N]>,
): Promise<TargetedClaim<ResultOf<Catalog[N]>>> {
  if (!host.plugins().some(({ id, status }) => id === plugin && status === "ready")) return { status: "missing_plugin" };
  const { decision, result, calls } = await host.run(hook, event, ctx, { plugin });
  if (decision === "handled") return { status: "handled", result: result! };
  if (calls.length === 0) return { status: "no_handler" };
  const error = calls.find((call) => call.error)?.error;
  return error ? { status: "error", error: error.message } : { status: "declined" };
}
