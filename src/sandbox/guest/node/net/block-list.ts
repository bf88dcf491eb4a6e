/**
 * Inside the isolate: `net.BlockList`: a plugin's own list of addresses, which it asks itself. Untrusted side: which
 * addresses are reached the host decides, from the grants.
 */
import { checkString, checkInteger, invalidArgType, invalidArgValue } from "../errors.ts";
import { addressNumber, SocketAddress } from "./socket-address.ts";
import type { Family } from "./socket-address.ts";

interface Rule {
  readonly text: string;
  readonly family: Family;
  readonly first: bigint;
  readonly last: bigint;
}

const NAMES = { ipv4: "IPv4", ipv6: "IPv6" } as const;
/** IPv4 addresses as IPv6 has them: `::ffff:0:0/96`. */
const MAPPED = 0xffff00000000n;

function addressOf(value: unknown, name: string, family: unknown): SocketAddress {
  if (SocketAddress.isSocketAddress(value)) return value;
  checkString(value, name);
  checkString(family, "family");
  return new SocketAddress({ address: value, family });
}

const numberOf = ({ address, family }: SocketAddress): bigint => addressNumber(address, family);

function ruleOf(kind: "Address" | "Range" | "Subnet", family: Family, what: string, first: bigint, last: bigint): Rule {
  return { text: `${kind}: ${NAMES[family]} ${what}`, family, first, last };
}

function addressRule(address: unknown, family: unknown, name = "address"): Rule {
  const one = addressOf(address, name, family);
  return ruleOf("Address", one.family, one.address, numberOf(one), numberOf(one));
}

function rangeRule(start: unknown, end: unknown, family: unknown): Rule {
  const [from, to] = [addressOf(start, "start", family), addressOf(end, "end", family)];
  const [first, last] = [numberOf(from), numberOf(to)];
  if (from.family !== to.family || first > last) throw invalidArgValue("start", start, "must come before end");
  return ruleOf("Range", from.family, `${from.address}-${to.address}`, first, last);
}

function subnetRule(network: unknown, prefix: number, family: unknown): Rule {
  const net = addressOf(network, "network", family);
  const bits = net.family === "ipv4" ? 32 : 128;
  checkInteger(prefix, "prefix", 0, bits);
  const rest = (1n << BigInt(bits - prefix)) - 1n;
  const first = numberOf(net) & ~rest;
  return ruleOf("Subnet", net.family, `${net.address}/${prefix}`, first, first | rest);
}

function cidrRule(cidr: unknown, name = "cidr"): Rule {
  checkString(cidr, name);
  const [network = "", prefix = "", ...more] = cidr.split("/");
  if (!/^\d{1,3}$/.test(prefix) || more.length > 0) throw invalidArgValue(name, cidr, "must be in CIDR notation");
  return subnetRule(network, Number(prefix), network.includes(":") ? "ipv6" : "ipv4");
}

function each(list: unknown, name: string): unknown[] {
  if (!Array.isArray(list)) throw invalidArgType(name, "an instance of Array", list);
  return list;
}

export class BlockList {
  /** The newest first. */
  #rules: Rule[] = [];

  static isBlockList(value: unknown): value is BlockList {
    return typeof value === "object" && value !== null && #rules in value;
  }

  static PRIVATE_RANGES = Object.freeze([
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "127.0.0.0/8",
    "::1/128",
    "169.254.0.0/16",
    "fe80::/10",
    "fc00::/7",
  ]);

  addAddress(address: unknown, family: unknown = "ipv4"): void {
    this.#rules.unshift(addressRule(address, family));
  }

  addAddresses(addresses: unknown, family: unknown = "ipv4"): void {
    const rules = each(addresses, "addresses").map((one, at) => addressRule(one, family, `addresses[${at}]`));
    this.#rules.unshift(...rules.toReversed());
  }

  addRange(start: unknown, end: unknown, family: unknown = "ipv4"): void {
    this.#rules.unshift(rangeRule(start, end, family));
  }

  addSubnet(network: unknown, prefix: number, family: unknown = "ipv4"): void {
    this.#rules.unshift(subnetRule(network, prefix, family));
  }

  addCIDR(cidr: unknown): void {
    this.#rules.unshift(cidrRule(cidr));
  }

  addCIDRs(cidrs: unknown): void {
    const rules = each(cidrs, "cidrs").map((one, at) => cidrRule(one, `cidrs[${at}]`));
    this.#rules.unshift(...rules.toReversed());
  }

  removeAddress(address: unknown, family: unknown = "ipv4"): void {
    this.#remove(addressRule(address, family));
  }

  removeRange(start: unknown, end: unknown, family: unknown = "ipv4"): void {
    this.#remove(rangeRule(start, end, family));
  }

  removeSubnet(network: unknown, prefix: number, family: unknown = "ipv4"): void {
    this.#remove(subnetRule(network, prefix, family));
  }

  removeCIDR(cidr: unknown): void {
    this.#remove(cidrRule(cidr));
  }

  clear(): void {
    this.#rules = [];
  }

  check(address: unknown, family: unknown = "ipv4"): boolean {
    if (!SocketAddress.isSocketAddress(address)) {
      checkString(address, "address");
      checkString(family, "family");
    }
    let one: SocketAddress;
    try {
      one = addressOf(address, "address", family);
    } catch {
      return false;
    }
    const value = numberOf(one);
    const v4 = one.family === "ipv4" ? value : value >> 32n === MAPPED >> 32n ? value & 0xffffffffn : undefined;
    const v6 = one.family === "ipv6" ? value : MAPPED | value;
    return this.#rules.some((rule) => {
      const own = rule.family === "ipv4" ? v4 : v6;
      return own !== undefined && rule.first <= own && own <= rule.last;
    });
  }

  get rules(): string[] {
    const texts = this.#rules.map(({ text }) => text);
    return ["Address", "Subnet", "Range"].flatMap((kind) => texts.filter((text) => text.startsWith(kind)));
  }

  get size(): number {
    return this.#rules.length;
  }

  toJSON(): string[] {
    return this.rules;
  }

  fromJSON(data: unknown): void {
    const texts: unknown = typeof data === "string" ? JSON.parse(data) : data;
    if (!Array.isArray(texts) || !texts.every((one) => typeof one === "string"))
      throw invalidArgType("data", "of type string or string[]", data);
    for (const text of texts) this.#addText(text);
  }

  #addText(text: string): void {
    const [, kind, name, first = "", mark, second = ""] = /^(Address|Range|Subnet): (IPv[46]) ([^-/]+)(?:([-/])(.+))?$/.exec(text) ?? [];
    const family = name?.toLowerCase();
    if (kind === "Address") this.addAddress(first, family);
    else if (kind === "Range" && mark === "-") this.addRange(first, second, family);
    else if (kind === "Subnet" && mark === "/") this.addSubnet(first, Number(second), family);
  }

  #remove({ text }: Rule): void {
    this.#rules = this.#rules.filter((rule) => rule.text !== text);
  }
}
