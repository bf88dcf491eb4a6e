/**
 * Trusted side: what each plugin has used of its permissions, and what it was refused, for `creel permissions suggest`.
 * A few counters per plugin, in memory. Not visible from here is what happens inside a cell: reading a variable or a
 * file, the exact clock, WebAssembly.
 */
import type { AuditRequest, AuditUsage } from "../../protocol/audit-line.ts";
import { fetchPrefix } from "../../protocol/config/fetch-grant.ts";
import type { FetchMethod } from "../../protocol/config/fetch-grant.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { CallCounts } from "../plugins/call-counts.ts";

interface Requests {
  readonly by: Map<string, { readonly origin: string; readonly method: FetchMethod; path: string; count: number }>;
  more: number;
}

interface Used {
  readonly used: Map<string, number>;
  readonly refused: Map<string, number>;
  readonly fetch: Requests;
  readonly refusedFetch: Requests;
  /** The total when it was last written. */
  written: number;
  happened: number;
}

export class Usage {
  readonly #plugins = new Map<string, Used>();
  readonly #since = new Date().toISOString();
  readonly #callCounts: CallCounts;

  constructor(callCounts: CallCounts) {
    this.#callCounts = callCounts;
  }

  /** A service has answered. */
  used(plugin: string, service: string): void {
    const key = permissionOf(service);
    if (key !== undefined) count(this.#of(plugin), "used", key);
  }

  refused(plugin: string, service: string): void {
    const key = permissionOf(service);
    if (key !== undefined) count(this.#of(plugin), "refused", key);
  }

  /** A request was matched against the grants. A redirect counts as one more. */
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
    } else if (found.by.size < LIMITS.audit.requests && origin.length <= LIMITS.audit.textChars)
      found.by.set(key, { origin, method, path: common(url.pathname, url.pathname), count: 1 });
    else found.more += 1;
  }

  /** A connection was matched against the grants. SECURITY: the plugin chooses the target. test/host/audit/usage-connect.test.ts */
  connected(plugin: string, target: string, isGranted: boolean): void {
    const own = this.#of(plugin);
    const key = `connect:${target}`;
    const what = isGranted ? "used" : "refused";
    if (own[what].has(key) || (own[what].size < LIMITS.audit.requests && target.length <= LIMITS.audit.textChars)) count(own, what, key);
    else own.happened += 1;
  }

  /** What changed since the last call. */
  *changed(): Generator<Omit<AuditUsage, "v" | "at" | "host" | "pid">> {
    for (const plugin of new Set([...this.#callCounts.plugins(), ...this.#plugins.keys()])) {
      const calls = this.#callCounts.calls(plugin);
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

/** The permission that a service needs. Fetch requests are counted separately, and most other services need none. */
export function permissionOf(service: string): string | undefined {
  const [, plain, session, access, fs] = SERVICES.exec(service) ?? [];
  return session === undefined ? (plain ?? fs) : `${session}:${access}`;
}

function list({ by }: Requests): AuditRequest[] {
  return Array.from(by.values(), (one) => ({ ...one }));
}

/** The common prefix of two paths, by whole segments, as a grant could name it; `/`: nothing. */
export function common(before: string, path: string): string {
  const [one, two] = [segmentsOf(before), segmentsOf(path)];
  let shared = 0;
  while (shared < one.length && shared < two.length && one[shared] === two[shared]) shared += 1;
  const beginning = (segments: number): string => one.slice(0, segments).join("/");
  const isPrefix = (segments: number): boolean => fetchPrefix.safeParse(beginning(segments)).success;
  if (shared <= 1) return "/";
  if (isPrefix(shared)) return beginning(shared);
  // If a path cannot be a prefix, no longer one can: binary search for the longest that can.
  let [fits, fails] = [1, shared];
  while (fails - fits > 1) {
    const middle = Math.floor((fits + fails) / 2);
    if (isPrefix(middle)) fits = middle;
    else fails = middle;
  }
  return fits === 1 ? "/" : beginning(fits);
}

/**
 * SECURITY: reads only this many characters of a path, whose length the plugin chooses.
 * test/host/audit/audit-file.test.ts
 */
function segmentsOf(path: string): string[] {
  if (path.length <= LIMITS.audit.pathChars) return path.split("/");
  // Drops the last segment, which may be cut off or make the path too long.
  return path
    .slice(0, LIMITS.audit.pathChars + 1)
    .split("/")
    .slice(0, -1);
}
