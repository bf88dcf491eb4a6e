/**
 * Trusted side: causes that leave the process. A request that the host makes for a plugin carries a token; when the server calls the gateway
 * because of it and passes the header on, the host finds the causal chain again. The token is a random number with a seal: it reveals
 * nothing about the chain, cannot be forged, and is valid only at the host that issued it. Hosts of a fleet seal the chain itself
 * (sealed-causes.ts).
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { LIMITS } from "../../protocol/limits.ts";
import type { Chain } from "./causes.ts";

/** The header of every request that the host makes for a plugin. */
export const CAUSE_HEADER = "creel-cause";

/** The headers of a request to the gateway as `fetch` or Node's http server give them, or the header's value itself. */
export type CauseCarrier = Headers | IncomingHttpHeaders | string | null | undefined;

const ID_BYTES = 12;
const SEAL_BYTES = 16;
const TOKEN = /^[\w-]{16}\.[\w-]{22}$/;

interface Issued {
  readonly chain: Chain;
  readonly untilMs: number;
}

/** Makes tokens of chains, and finds the chain of a token. */
export interface CauseSeal {
  issue(chain: Chain): string;
  /** Undefined: the token is not one of ours, or too old. */
  chainOf(token: string): Chain | undefined;
}

export class CauseTokens implements CauseSeal {
  readonly #key = randomBytes(32);
  readonly #now: () => number;
  /** By id, the oldest first. */
  readonly #issued = new Map<string, Issued>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  issue(chain: Chain): string {
    this.#forgetOld();
    const id = randomBytes(ID_BYTES).toString("base64url");
    this.#issued.set(id, { chain, untilMs: this.#now() + LIMITS.causality.causeTokenMs });
    return `${id}.${this.#seal(id).toString("base64url")}`;
  }

  /** Undefined: the token is not one of ours, or too old. */
  chainOf(token: string): Chain | undefined {
    // SECURITY: the token comes from an untrusted third party. test/contract/fetch-recursion.test.ts
    if (!TOKEN.test(token)) return undefined;
    const [id, seal] = token.split(".") as [string, string];
    if (!timingSafeEqual(Buffer.from(seal, "base64url"), this.#seal(id))) return undefined;
    const issued = this.#issued.get(id);
    return issued && issued.untilMs > this.#now() ? issued.chain : undefined;
  }

  #seal(id: string): Buffer {
    return createHmac("sha256", this.#key).update(id).digest().subarray(0, SEAL_BYTES);
  }

  #forgetOld(): void {
    const nowMs = this.#now();
    for (const [id, { untilMs }] of this.#issued) {
      if (untilMs > nowMs && this.#issued.size < LIMITS.causality.causeTokens) return;
      this.#issued.delete(id);
    }
  }
}

/** The token in a request's headers, if there is exactly one. */
export function tokenIn(carrier: CauseCarrier): string | undefined {
  if (typeof carrier === "string") return carrier;
  if (carrier === null || carrier === undefined) return undefined;
  const value = carrier instanceof Headers ? carrier.get(CAUSE_HEADER) : carrier[CAUSE_HEADER];
  return typeof value === "string" ? value : undefined;
}
