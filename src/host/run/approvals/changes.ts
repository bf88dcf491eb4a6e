/** Trusted side: what plugins changed in a tool's parameters after a request for approval. The question shows it to the user. */
import type { Change, Fields } from "../../../protocol/rules/merge.ts";
import { LIMITS } from "../../../protocol/limits.ts";

/** What one plugin changed after the first request. */
export interface ApprovalChange {
  readonly pluginId: string;
  /** The parameters that it changed, as it left them. */
  readonly params: Fields;
  /** Parameters that are gone. Only with `rewrites: "isolated"`, where the last rewrite replaces those before it. */
  readonly removed?: readonly string[];
}

export interface Changes {
  /** By plugin; the plugin that changed something last is the last one. */
  readonly changes: readonly ApprovalChange[];
  /** How many requests were made for other parameters than those that will run. */
  readonly outdated: number;
  /** The plugin that changed more than one question shows; its later changes are not listed. */
  readonly excess?: string;
}

interface Known {
  readonly params: Map<string, unknown>;
  readonly removed: Set<string>;
}

export function changesOf(rewrites: readonly Change[]): Changes {
  const byPlugin = new Map<string, Known>();
  let outdated = 0;
  let excess: string | undefined;
  for (const { by, changed, removed, requestCount } of rewrites) {
    const { id } = by.plugin;
    outdated = requestCount;
    const known = byPlugin.get(id) ?? { params: new Map(), removed: new Set() };
    byPlugin.delete(id);
    byPlugin.set(id, known);
    // SECURITY: a question is bounded, whatever plugins change. test/host/run/approvals/changes.test.ts
    const isFull = (): boolean => known.params.size + known.removed.size > LIMITS.approval.changes;
    for (let at = 0; at < changed.length && !isFull(); at++) {
      const [key, value] = changed[at]!;
      known.params.set(key, value);
    }
    for (let at = 0; at < removed.length && !isFull(); at++) known.removed.add(removed[at]!);
    if (isFull()) excess ??= id;
  }
  const changes = [...byPlugin].map(([pluginId, { params, removed }]) => ({
    pluginId,
    params: Object.fromEntries(params),
    ...(removed.size > 0 && { removed: [...removed] }),
  }));
  return { changes, outdated, ...(excess !== undefined && { excess }) };
}

/** The parameters as the tool runs with them. With isolated rewrites a result holds only what a handler changed. */
export function laidOver(event: Fields, params: unknown): Fields {
  return { ...(event.params as Fields | undefined), ...(params as Fields | undefined) };
}
