/**
 * Trusted side: the guard against loops. Depth: runs that cause each other, by patches or by requests that come back to the
 * gateway. Rate: patches of one session by one plugin, for loops whose cause was lost on the way. Past a limit the plugin's request fails
 * and nothing is applied; each loop is reported once, with its chain.
 */
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { RateWindow } from "../../protocol/rules/rate-window.ts";
import type { Chain } from "./causes.ts";
import type { HostEvents } from "../report/events.ts";

/** Roots of loops that were reported; old ones are forgotten. */
const REPORTED = 10_000;

export class RecursionGuard {
  readonly #events: HostEvents;
  readonly #windows = new Map<string, { readonly patches: RateWindow; isReported: boolean }>();
  #nextSweepMs = 0;
  readonly #reported = new Set<string>();

  constructor(events: HostEvents) {
    this.#events = events;
  }

  /** Throws when the plugin may not patch the session once more. */
  check(plugin: string, sessionKey: string, chain: Chain): void {
    this.#checkDepth(plugin, sessionKey, chain, "patch");
    const key = `${plugin} ${sessionKey}`;
    let window = this.#windows.get(key);
    if (!window || window.patches.isOver) {
      this.#forgetOld();
      const patches = new RateWindow(LIMITS.causality.patchesPerWindow, LIMITS.causality.patchWindowMs);
      this.#windows.set(key, (window = { patches, isReported: false }));
    }
    if (window.patches.admit()) return;
    // A loop that lost its cause has a new root every time.
    if (!window.isReported) this.#report(chain.rootRunId, { plugin, sessionKey, limit: "rate", chain });
    window.isReported = true;
    throw new CreelError("ERR_RECURSION_RATE", {
      plugin,
      session: sessionKey,
      limit: LIMITS.causality.patchesPerWindow,
      seconds: LIMITS.causality.patchWindowMs / 1000,
      path: pathOf(chain),
    });
  }

  /** Throws when a request of the plugin could be another round of a loop through the gateway. */
  checkRequest(plugin: string, chain: Chain): void {
    this.#checkDepth(plugin, undefined, chain, "request");
  }

  #checkDepth(plugin: string, sessionKey: string | undefined, chain: Chain, what: "patch" | "request"): void {
    if (chain.depth <= LIMITS.causality.recursionDepth) return;
    this.#report(chain.rootRunId, { plugin, sessionKey, limit: "depth", chain });
    throw new CreelError("ERR_RECURSION_DEPTH", { plugin, what, limit: LIMITS.causality.recursionDepth, path: pathOf(chain) });
  }

  #report(root: string, fact: { plugin: string; sessionKey: string | undefined; limit: "depth" | "rate"; chain: Chain }): void {
    if (this.#reported.has(root)) return;
    this.#reported.add(root);
    if (this.#reported.size > REPORTED) this.#reported.delete(this.#reported.values().next().value!);
    this.#events.publish("recursion", fact);
  }

  #forgetOld(): void {
    const nowMs = performance.now();
    if (nowMs < this.#nextSweepMs) return;
    this.#nextSweepMs = nowMs + LIMITS.causality.patchWindowMs;
    for (const [key, { patches }] of this.#windows) if (patches.isOver) this.#windows.delete(key);
  }
}

function pathOf({ path }: Chain): string {
  return path.join(" → ");
}
