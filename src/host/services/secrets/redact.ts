/**
 * Trusted side: removes secrets from what servers send, in one piece or chunk by chunk, also where a secret spans two
 * chunks.
 */
import { redactionOf, SecretFinder } from "./secret-finder.ts";
import type { Redaction } from "./secret-finder.ts";
import { UnescapedText } from "./unescaped-text.ts";

export { redactionOf };
export type { Redaction };

export class Redactor {
  readonly #finder: SecretFinder;
  /** Held back: a secret may begin in it. */
  #tail: Buffer = Buffer.alloc(0);
  /** This many bytes of the tail belong to a secret that was replaced already. */
  #covered = 0;
  readonly #found: (name: string) => void;

  /** `found` is called for every secret that was removed. */
  constructor(redactions: readonly Redaction[] | SecretFinder, found: (name: string) => void = () => {}) {
    this.#finder = redactions instanceof SecretFinder ? redactions : new SecretFinder(redactions);
    this.#found = found;
  }

  /** Redacts another text of one character per byte, such as a header. */
  text(text: string): string {
    if (text.length < this.#finder.shortest) return text;
    const other = new Redactor(this.#finder, this.#found);
    return other.#scan(Buffer.from(text, "latin1"), true).toString("latin1");
  }

  push(chunk: Buffer): Buffer {
    return this.#finder.shortest === Infinity ? chunk : this.#scan(chunk, false);
  }

  /** What was held back. */
  end(): Buffer {
    return this.#finder.shortest === Infinity ? Buffer.alloc(0) : this.#scan(Buffer.alloc(0), true);
  }

  // SECURITY: whatever begins before the limit was compared whole, so no byte that leaves belongs to a secret.
  // test/host/services/secrets/redact.test.ts
  #scan(chunk: Buffer, isLast: boolean): Buffer {
    const data = this.#tail.length === 0 ? chunk : Buffer.concat([this.#tail, chunk]);
    const out: Buffer[] = [];
    let done = this.#covered;
    let limit = data.length;
    const text = new UnescapedText(data);
    for (let at = 0; ;) {
      const found = this.#finder.next(text, at, isLast);
      if (!found) break;
      // Hold back only this: an event stream must not wait for its next event.
      if (found.name === undefined) {
        limit = found.start;
        break;
      }
      if (found.start >= done) {
        out.push(data.subarray(done, found.start), Buffer.from(`[secret ${found.name}]`));
        this.#found(found.name);
      }
      done = Math.max(done, found.end);
      // Secrets may overlap, also with themselves.
      at = found.start + 1;
    }
    if (done < limit) {
      out.push(data.subarray(done, limit));
      done = limit;
    }
    // A copy, so that a small rest does not keep a large chunk in memory.
    this.#tail = Buffer.from(data.subarray(limit));
    this.#covered = done - limit;
    return Buffer.concat(out);
  }
}
