/** Trusted side: what plugins changed in a tool's parameters after a request for approval. The question shows it to the user. */
import { isDeepStrictEqual } from "node:util";
import type { Change, Fields } from "../../../protocol/rules/merge.ts";

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
}

/** Rewrites that changed nothing do not count. */
export function changesOf(rewrites: readonly Change[], event: Fields): Changes {
  const byPlugin = new Map<string, ApprovalChange>();
  let outdated = 0;
  for (const { by, before, after, requestCount } of rewrites) {
    const [from, to] = [laidOver(event, before), laidOver(event, after)];
    const changed = Object.entries(to).filter(([key, value]) => !Object.hasOwn(from, key) || !isSame(from[key], value));
    const removed = Object.keys(from).filter((key) => !Object.hasOwn(to, key));
    if (changed.length + removed.length === 0) continue;
    outdated = requestCount;
    const known = byPlugin.get(by.plugin.id);
    const gone = [...new Set([...(known?.removed ?? []), ...removed])];
    byPlugin.delete(by.plugin.id);
    byPlugin.set(by.plugin.id, {
      pluginId: by.plugin.id,
      params: { ...known?.params, ...Object.fromEntries(changed) },
      ...(gone.length > 0 && { removed: gone }),
    });
  }
  return { changes: [...byPlugin.values()], outdated };
}

/** The parameters as the tool runs with them. With isolated rewrites a result holds only what a handler changed. */
export function laidOver(event: Fields, params: unknown): Fields {
  return { ...(event.params as Fields | undefined), ...(params as Fields | undefined) };
}

/** A rewrite keeps what it does not name, so most values are the same object. */
function isSame(before: unknown, after: unknown): boolean {
  try {
    return before === after || isDeepStrictEqual(before, after);
  } catch {
    // Nested too deep to compare.
    return false;
  }
}
