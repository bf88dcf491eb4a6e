/**
 * Trusted side, a gateway: the server tells nobody that the process behind a subject has died. So a host is asked whether it lives as soon as a
 * run has waited there for a moment, and again while one waits. "No responders" comes at once; silence means that it hangs.
 */
import type { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";

/** The host that had the request has died, or hangs: it may have begun. */
export class HostLost extends Error {
  override readonly cause: CreelError;

  constructor(cause: CreelError) {
    super(cause.message);
    this.cause = cause;
  }
}

interface Watched {
  readonly waiting: Set<(error: HostLost) => void>;
  timer: NodeJS.Timeout | undefined;
}

export class Probes {
  readonly #ping: (host: string) => Promise<unknown>;
  readonly #isAway: (error: CreelError) => boolean;
  readonly #watched = new Map<string, Watched>();

  /** `isAway`: our own connection is gone, which says nothing about the host. */
  constructor(ping: (host: string) => Promise<unknown>, isAway: (error: CreelError) => boolean) {
    this.#ping = ping;
    this.#isAway = isAway;
  }

  /** `lost` is called once if the host dies. Returns the function that ends it. */
  watch(host: string, lost: (error: HostLost) => void): () => void {
    let watched = this.#watched.get(host);
    if (!watched) this.#watched.set(host, (watched = { waiting: new Set(), timer: undefined }));
    const { waiting } = watched;
    waiting.add(lost);
    watched.timer ??= this.#later(host, watched);
    return () => void waiting.delete(lost);
  }

  #later(host: string, watched: Watched): NodeJS.Timeout {
    return setTimeout(() => void this.#probe(host, watched), LIMITS.fleet.probeMs);
  }

  async #probe(host: string, watched: Watched): Promise<void> {
    watched.timer = undefined;
    if (watched.waiting.size === 0) return;
    // Those that come meanwhile are judged by the next probe.
    const asked = [...watched.waiting];
    try {
      await this.#ping(host);
    } catch (error) {
      if (!this.#isAway(error as CreelError))
        for (const lost of asked) if (watched.waiting.delete(lost)) lost(new HostLost(error as CreelError));
    }
    if (watched.waiting.size > 0) watched.timer ??= this.#later(host, watched);
  }
}
