/**
 * Trusted side: what each plugin has used of what it may do, and what it was refused, for `creel permissions suggest`. A few counters per plugin, in
 * memory. What a plugin does inside its cell is not seen from here: reading a variable or a file, an exact clock, WebAssembly.
 */
import type { AuditRequest, AuditUsage } from "../../protocol/audit-line.ts";
import { fetchPrefix } from "../../protocol/fetch-grant.ts";
import type { FetchMethod } from "../../protocol/fetch-grant.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Tallies } from "../tally.ts";

interface Requests {
  readonly by: Map<string, { readonly origin: string; readonly method: FetchMethod; path: string; count: number }>;
  more: number;
}

interface Used {
  readonly used: Map<string, number>;
  readonly refused: Map<string, number>;
  readonly fetch: Requests;
  readonly refusedFetch: Requests;
  /** How much had happened when it was last written. */
  written: number;
  happened: number;
}

export class Usage {
  readonly #plugins = new Map<string, Used>();
  readonly #since = new Date().toISOString();
  readonly #tallies: Tallies;

  constructor(tallies: Tallies) {
    this.#tallies = tallies;
  }

  /** A service has answered. */
  used(plugin: string, service: string): void {
    const key = keyOf(service);
    if (key !== undefined) count(this.#of(plugin), "used", key);
  }

  refused(plugin: string, service: string): void {
    const key = keyOf(service);
    if (key !== undefined) count(this.#of(plugin), "refused", key);
  }

  /** A request was judged; a redirect is one more. */
  requested(plugin: string, url: URL, method: FetchMethod, isGranted: boolean): void {
    const own = this.#of(plugin);
    own.happened += 1;
    const found = isGranted ? own.fetch : own.refusedFetch;
    const { origin } = url;
    const key = `${method} ${origin}`;
    const known = found.by.get(key);
    if (known) {
      known.count += 1;
      known.path = common(known.path, url.pathname);
    } else if (found.by.size < LIMITS.auditRequests && origin.length <= LIMITS.auditTextChars)
      found.by.set(key, { origin, method, path: common(url.pathname, url.pathname), count: 1 });
    else found.more += 1;
  }

  /** What there is to write, since it was last asked. */
  *changed(): Generator<Omit<AuditUsage, "v" | "at" | "host" | "pid">> {
    for (const plugin of new Set([...this.#tallies.plugins(), ...this.#plugins.keys()])) {
      const calls = this.#tallies.calls(plugin);
      const total = Object.values(calls).reduce((sum, one) => sum + one, this.#plugins.get(plugin)?.happened ?? 0);
      const own = this.#of(plugin);
      if (total === own.written) continue;
      own.written = total;
      const more = own.fetch.more + own.refusedFetch.more;
      yield {
        kind: "usage",
        plugin,
        since: this.#since,
        calls,
        used: Object.fromEntries(own.used),
        fetch: list(own.fetch),
        refused: Object.fromEntries(own.refused),
        refusedFetch: list(own.refusedFetch),
        ...(more > 0 && { more }),
      };
    }
  }

  #of(plugin: string): Used {
    let own = this.#plugins.get(plugin);
    if (!own) {
      own = { used: new Map(), refused: new Map(), fetch: requests(), refusedFetch: requests(), written: 0, happened: 0 };
      this.#plugins.set(plugin, own);
    }
    return own;
  }
}

function requests(): Requests {
  return { by: new Map(), more: 0 };
}

function count(own: Used, what: "used" | "refused", key: string): void {
  own[what].set(key, (own[what].get(key) ?? 0) + 1);
  own.happened += 1;
}

const SERVICES = /^(?:(kv|schedule)\..+|(session)\.(get|patch)|(fs)\.write)$/;

/** The key of the permission that a service needs. Requests are counted by themselves, and most other services need none. */
function keyOf(service: string): string | undefined {
  const [, plain, session, access, fs] = SERVICES.exec(service) ?? [];
  return session === undefined ? (plain ?? fs) : `${session}:${access}`;
}

function list({ by }: Requests): AuditRequest[] {
  return Array.from(by.values(), (one) => ({ ...one }));
}

/** What two paths have in common, by whole segments, as a grant could name it; `/`: nothing. */
export function common(before: string, path: string): string {
  const [one, two] = [before.split("/"), path.split("/")];
  let shared = 0;
  while (shared < one.length && shared < two.length && one[shared] === two[shared]) shared += 1;
  for (; shared > 1; shared--) {
    const found = one.slice(0, shared).join("/");
    if (found.length <= LIMITS.auditPathChars && fetchPrefix.safeParse(found).success) return found;
  }
  return "/";
}
