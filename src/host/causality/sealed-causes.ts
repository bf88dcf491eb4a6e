/**
 * Trusted side: cause tokens that every host of a fleet can read. The token is the causal chain itself, encrypted with a key that all hosts of the
 * fleet have: a loop through two hosts has one chain, and ends at the depth limit. To others it reveals only how long the chain is.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { LIMITS } from "../../protocol/limits.ts";
import type { CauseSeal } from "./cause-tokens.ts";
import type { Chain } from "./causes.ts";
import { storedChain } from "./stored-chain.ts";

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** `f1`: the form of the token. */
const TOKEN = /^f1\.([\w-]+)$/;

export class SealedCauses implements CauseSeal {
  readonly #key: Buffer;
  readonly #now: () => number;

  /** `now`: the clock of the day, as other machines have it, too. */
  constructor(key: Uint8Array, now: () => number = Date.now) {
    this.#key = createHash("sha256").update("creel causes\n").update(key).digest();
    this.#now = now;
  }

  issue(chain: Chain): string {
    const { rootRunId, depth, by } = chain;
    let [path, runIds] = [chain.path, chain.runIds];
    let text = "";
    // What is cut is only what people read, and runs that have long begun; the depth stays.
    for (;;) {
      text = JSON.stringify({ at: this.#now(), chain: { rootRunId, depth, path, runIds, by } });
      if (Buffer.byteLength(text) <= LIMITS.causality.sealedBytes || path.length === 0) break;
      [path, runIds] = [path.slice(1), runIds.slice(1)];
    }
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, iv);
    const sealed = Buffer.concat([iv, cipher.update(text), cipher.final()]);
    return `f1.${Buffer.concat([sealed, cipher.getAuthTag()]).toString("base64url")}`;
  }

  /** SECURITY: the token comes from an untrusted third party. test/host/causality/sealed-causes.test.ts */
  chainOf(token: string): Chain | undefined {
    const bytes = token.length > LIMITS.causality.tokenChars ? undefined : TOKEN.exec(token)?.[1];
    if (bytes === undefined) return undefined;
    const sealed = Buffer.from(bytes, "base64url");
    if (sealed.length <= IV_BYTES + TAG_BYTES) return undefined;
    try {
      const opener = createDecipheriv(CIPHER, this.#key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
      opener.setAuthTag(sealed.subarray(-TAG_BYTES));
      const text = Buffer.concat([opener.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), opener.final()]).toString();
      const { at, chain } = JSON.parse(text) as { at: number; chain: unknown };
      // Clocks of machines differ, so one from the near future counts.
      if (Math.abs(this.#now() - at) > LIMITS.causality.causeTokenMs) return undefined;
      const { by, ...rest } = storedChain.parse(chain);
      return { ...rest, by, client: undefined };
    } catch {
      return undefined;
    }
  }
}
