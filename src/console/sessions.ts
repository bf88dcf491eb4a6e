/**
 * Trusted side: who may use the console. A code from the address bar is exchanged once for a token; the scopes stay here, with the token,
 * and no client names its own. Everything is kept in memory and as digests: a token of a page ends with the console.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { LIMITS } from "../protocol/limits.ts";

/** `read`: look. `act`: also answer approvals, switch plugins off and on, revoke. `metrics`: only /metrics. */
export type Scope = "read" | "act" | "metrics";

interface Held {
  readonly digest: Buffer;
  readonly scopes: ReadonlySet<Scope>;
}

/** 144 bits for a code that lives a minute, 256 for a token that lives as long as the console. */
const CODE_BYTES = 18;
const TOKEN_BYTES = 32;

export class Sessions {
  readonly #granted: ReadonlySet<Scope>;
  readonly #now: () => number;
  readonly #codes: { readonly digest: Buffer; readonly until: number }[] = [];
  readonly #tokens: Held[] = [];
  #wrong = 0;
  #wrongAt = 0;
  #lockedUntil = 0;

  /** `granted`: the scopes of every token that a code is exchanged for. */
  constructor(granted: readonly Scope[], now: () => number = Date.now) {
    this.#granted = new Set(granted);
    this.#now = now;
  }

  /** One use, one minute. */
  newCode(): string {
    const code = randomBytes(CODE_BYTES).toString("base64url");
    this.#codes.push({ digest: digestOf(code), until: this.#now() + LIMITS.console.codeMs });
    if (this.#codes.length > LIMITS.console.sessions) this.#codes.shift();
    return code;
  }

  /** A token for the code; undefined: it is wrong, too old, or was used before. */
  redeem(code: string): { readonly token: string; readonly scopes: readonly Scope[] } | undefined {
    const digest = digestOf(code);
    const at = this.#codes.findIndex((held) => timingSafeEqual(held.digest, digest));
    const [held] = at < 0 ? [] : this.#codes.splice(at, 1);
    if (!held || held.until < this.#now()) return this.#countWrong();
    const token = this.#newToken(this.#granted);
    return { token, scopes: [...this.#granted] };
  }

  /** A token that reads /metrics and nothing else, from a file of its owner's. */
  addMetricsToken(token: string): void {
    this.#add(token, new Set(["metrics"]));
  }

  /** The scopes of the token in an Authorization header; undefined: there is none, or it is wrong. */
  scopesOf(authorization: string | undefined): ReadonlySet<Scope> | undefined {
    // A request without a token is no guess.
    if (authorization === undefined) return undefined;
    const [, token = ""] = /^Bearer ([\w-]{1,256})$/.exec(authorization) ?? [];
    const digest = digestOf(token);
    // SECURITY: validity, not presence: an empty or malformed token matches no digest. test/console/security.test.ts
    const held = token.length > 0 ? this.#tokens.find((known) => timingSafeEqual(known.digest, digest)) : undefined;
    if (!held) return this.#countWrong();
    return held.scopes;
  }

  /** SECURITY: after too many wrong tokens nobody is authenticated for a while, from wherever they come. test/console/security.test.ts */
  get isLocked(): boolean {
    return this.#now() < this.#lockedUntil;
  }

  #countWrong(): undefined {
    const now = this.#now();
    // Tabs of earlier consoles and a scraper with an old token are wrong now and then; who guesses does not wait.
    if (now - this.#wrongAt > LIMITS.console.lockMs) this.#wrong = 0;
    this.#wrongAt = now;
    this.#wrong += 1;
    if (this.#wrong < LIMITS.console.wrongTokens) return undefined;
    this.#wrong = 0;
    this.#lockedUntil = now + LIMITS.console.lockMs;
    return undefined;
  }

  #newToken(scopes: ReadonlySet<Scope>): string {
    const token = randomBytes(TOKEN_BYTES).toString("base64url");
    this.#add(token, scopes);
    return token;
  }

  #add(token: string, scopes: ReadonlySet<Scope>): void {
    this.#tokens.push({ digest: digestOf(token), scopes });
    // The oldest session ends; the token of /metrics, which is in a file, does not.
    if (this.#tokens.length > LIMITS.console.sessions) {
      const oldest = this.#tokens.findIndex((held) => !held.scopes.has("metrics"));
      if (oldest >= 0) this.#tokens.splice(oldest, 1);
    }
  }
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
