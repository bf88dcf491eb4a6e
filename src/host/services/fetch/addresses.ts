/**
 * Trusted side: which address a request goes to. The host resolves a name once, checks every address it gets, and
 * connects to exactly those: a second look-up could answer differently (DNS rebinding). A name may only lead to the
 * public internet. Grants reach the gateway's own machine and network by naming `localhost` or the address itself.
 */
import { BlockList, isIP } from "node:net";

export interface Address {
  readonly address: string;
  readonly family: number;
}

/** `by`: the plugin that makes the request. */
export type Resolve = (host: string, by: string) => Promise<readonly Address[]>;

/** The addresses to connect to. Undefined: the name leads to an address that names may not lead to. */
export function pinned(url: URL, resolve: Resolve, by = ""): Promise<readonly Address[] | undefined> {
  return pinnedHost(url.hostname.replaceAll(/^\[|\]$/g, ""), resolve, by);
}

/** The same for a host without brackets, which a grant names exactly. */
export async function pinnedHost(host: string, resolve: Resolve, by: string): Promise<readonly Address[] | undefined> {
  const family = isIP(host);
  // A grant matches exactly, so the operator granted this very address.
  if (family !== 0) return [{ address: host, family }];
  const found = await resolve(host, by);
  const isAllowed = host === "localhost" ? isLoopback : isPublic;
  // SECURITY: one forbidden address rejects them all; the connection may use any of them.
  // test/host/services/fetch/addresses.test.ts
  return found.length > 0 && found.every(({ address }) => isAllowed(address)) ? found : undefined;
}

export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !SPECIAL_V4.check(address, "ipv4");
  return family === 6 && GLOBAL_V6.check(address, "ipv6") && !SPECIAL_V6.check(address, "ipv6");
}

function isLoopback(address: string): boolean {
  return LOOPBACK.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

function subnets(family: "ipv4" | "ipv6", ...nets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const net of nets) {
    const [address, bits] = net.split("/") as [string, string];
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

const LOOPBACK = subnets("ipv4", "127.0.0.0/8");
LOOPBACK.addAddress("::1", "ipv6");

/**
 * IANA's special-purpose registry: this host, private, shared, loopback, link-local, protocol, documentation,
 * benchmark, multicast, reserved.
 */
const SPECIAL_V4 = subnets(
  "ipv4",
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
);

/**
 * The only publicly routed range of IPv6. Loopback, local, multicast, IPv4-mapped and NAT64 addresses are outside of
 * it. SPECIAL_V6 excludes ranges inside it that embed an IPv4 address (Teredo, 6to4) or serve protocols and
 * documentation.
 */
const GLOBAL_V6 = subnets("ipv6", "2000::/3");
const SPECIAL_V6 = subnets("ipv6", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20");
