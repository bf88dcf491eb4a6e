/**
 * Trusted side: resolves names to addresses. c-ares queries the name servers under the host's own timeout and without a
 * thread of the pool that the whole gateway shares: `getaddrinfo` blocks a thread for as long as a name server is
 * silent. Concurrent requests for a name share one look-up, and answers are cached briefly. The machine's hosts file
 * counts. Search lists do not, since what they find is not public.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import { LIMITS } from "../../../protocol/limits.ts";
import type { Address } from "./addresses.ts";

export interface NamesOptions {
  /** Undefined: the name servers of the machine. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
  readonly now?: () => number;
}

interface Known {
  readonly addresses: Promise<readonly Address[]>;
  /** Infinity: the look-up is pending. */
  untilMs: number;
}

const HOSTS = process.platform === "win32" ? join(process.env["SystemRoot"] ?? "C:\\Windows", "System32/drivers/etc/hosts") : "/etc/hosts";

/** RFC 6761: this name means this machine, whatever a name server answers. */
const LOCALHOST: readonly Address[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

export class Names {
  readonly #options: NamesOptions;
  readonly #now: () => number;
  readonly #known = new Map<string, Known>();
  readonly #pending = new Map<string, number>();
  #hosts: { readonly names: ReadonlyMap<string, readonly Address[]>; readonly untilMs: number } | undefined;

  constructor(options: NamesOptions = {}) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Rejects with an error that has one of Node's codes. `by`: the plugin, whose pending look-ups are limited. */
  resolve(host: string, by = ""): Promise<readonly Address[]> {
    const name = host.replace(/\.$/, "").toLowerCase();
    const own = this.#hostsFile().get(name) ?? (name === "localhost" ? LOCALHOST : undefined);
    if (own) return Promise.resolve(own);
    const known = this.#known.get(name);
    if (known && known.untilMs > this.#now()) return known.addresses;
    const pending = this.#pending.get(by) ?? 0;
    if (pending >= LIMITS.fetch.lookUps) return Promise.reject(fault("EAI_AGAIN"));
    this.#pending.set(by, pending + 1);
    return this.#lookUp(name, by);
  }

  #lookUp(name: string, by: string): Promise<readonly Address[]> {
    const looked = this.#query(name);
    const entry: Known = { addresses: looked.then(({ addresses }) => addresses), untilMs: Infinity };
    this.#known.delete(name);
    this.#known.set(name, entry);
    this.#forget();
    const settled = (keptMs: number): void => {
      entry.untilMs = this.#now() + keptMs;
      const left = (this.#pending.get(by) ?? 1) - 1;
      if (left > 0) this.#pending.set(by, left);
      else this.#pending.delete(by);
    };
    looked.then(
      ({ seconds }) => settled(Math.min(seconds * 1_000, LIMITS.fetch.lookUpKeptMs)),
      () => settled(LIMITS.fetch.lookUpFailedMs),
    );
    return entry.addresses;
  }

  /** Addresses of both families. One family may fail if the other has an address. */
  async #query(name: string): Promise<{ readonly addresses: readonly Address[]; readonly seconds: number }> {
    // A new one each time: the machine's name servers may have changed.
    const { Resolver } = await import("node:dns/promises");
    const resolver = new Resolver({ timeout: LIMITS.fetch.lookUpMs, tries: LIMITS.fetch.lookUpTries });
    if (this.#options.servers) resolver.setServers([...this.#options.servers]);
    const found = await Promise.allSettled([resolver.resolve4(name, { ttl: true }), resolver.resolve6(name, { ttl: true })]);
    const records = found.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    if (records.length === 0) throw fault("ENOTFOUND");
    const addresses = records.slice(0, LIMITS.fetch.lookUpAddresses).map(({ address }) => ({ address, family: isIP(address) }));
    return { addresses, seconds: Math.min(...records.map(({ ttl }) => ttl)) };
  }

  /** Removes the oldest first. A pending look-up still answers those that wait for it. */
  #forget(): void {
    for (const name of this.#known.keys()) {
      if (this.#known.size <= LIMITS.fetch.lookUpsKept) return;
      this.#known.delete(name);
    }
  }

  #hostsFile(): ReadonlyMap<string, readonly Address[]> {
    const nowMs = this.#now();
    if (!this.#hosts || this.#hosts.untilMs <= nowMs)
      this.#hosts = { names: hostsIn(beginningOf(this.#options.hostsFile ?? HOSTS)), untilMs: nowMs + LIMITS.fetch.lookUpKeptMs };
    return this.#hosts.names;
  }
}

/** One cache for the process, shared by all hosts. */
export const sharedNames = new Names();

function fault(code: "ENOTFOUND" | "EAI_AGAIN"): Error {
  return Object.assign(new Error(code), { code });
}

/** Most machines have a few lines; of a block list of a hundred thousand names, only the beginning is read. */
function beginningOf(path: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const bytes = Buffer.alloc(LIMITS.fetch.hostsFileBytes);
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0)).toString("latin1");
  } catch {
    return "";
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

export function hostsIn(text: string): ReadonlyMap<string, readonly Address[]> {
  const names = new Map<string, Address[]>();
  for (const line of text.split("\n")) {
    const end = line.indexOf("#");
    const [address = "", ...given] = (end < 0 ? line : line.slice(0, end)).split(/\s+/).filter((word) => word !== "");
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of given) {
      const known = names.get(name.toLowerCase());
      if (known) known.push({ address, family });
      else names.set(name.toLowerCase(), [{ address, family }]);
    }
  }
  return names;
}
