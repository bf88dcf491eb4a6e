/** Trusted side, in an author's test: the plugin's entries (`api.kv`), as the host stores them. */
import { kvRequest } from "../../protocol/messages/kv.ts";
import type { KvBackend } from "../../host/services/kv/kv-backend.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { firstIssue } from "../../text/schema-issue.ts";

export class HarnessKv {
  readonly #store: () => Promise<KvBackend>;

  constructor(store: () => Promise<KvBackend>) {
    this.#store = store;
  }

  /** Undefined: there is no such entry, or its lifetime is over. */
  async get(key: string): Promise<unknown> {
    const [entry] = await (await this.#store()).read([key]);
    return entry && (JSON.parse(entry.text) as unknown);
  }

  /** As the plugin would write it, without its rate. */
  async set(key: string, value: unknown, { ttlMs }: { readonly ttlMs?: number } = {}): Promise<void> {
    await (await this.#store()).set(key, entryText(key, value, ttlMs), ttlMs);
  }

  /** True: there was such an entry. */
  async delete(key: string): Promise<boolean> {
    return (await this.#store()).delete(key);
  }

  /** All entries, in the order of their keys. */
  async entries(): Promise<Record<string, unknown>> {
    const store = await this.#store();
    const all: [string, unknown][] = [];
    for (let after: string | undefined, isMore = true; isMore;) {
      const page = await store.list({ prefix: "", after, limit: LIMITS.kv.page, hasValues: true });
      for (const { key, text } of page.entries) all.push([key, JSON.parse(text!) as unknown]);
      after = page.next;
      isMore = after !== undefined;
    }
    return Object.fromEntries(all);
  }
}

/** JSON, as the store keeps it. Throws when the store would refuse it. */
export function entryText(key: string, given: unknown, ttlMs?: number): string {
  const value = JSON.stringify(given) as string | undefined;
  const checked = kvRequest.set.safeParse({ key, value, ttlMs });
  if (!checked.success) {
    const { field, detail } = firstIssue(checked.error);
    throw new TypeError(`the entry "${key}" cannot be stored: ${field}: ${detail}`);
  }
  return checked.data.value;
}
