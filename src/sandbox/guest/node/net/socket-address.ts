/** Inside the isolate: `net.SocketAddress`, and addresses as numbers. Nothing here opens a connection. */
import { checkString, invalidArgType, invalidArgValue, nodeError, outOfRange } from "../errors.ts";
import { isIPv4, isIPv6 } from "./ip.ts";

export type Family = "ipv4" | "ipv6";

interface SocketAddressOptions {
  readonly address?: string;
  readonly family?: string;
  readonly port?: number;
  readonly flowlabel?: number;
}

const invalid = (): Error => nodeError(Error, "ERR_INVALID_ADDRESS", "Invalid socket address");

/** The eight groups of an address; the last two may be written as an IPv4 address. */
function groupsOf(text: string): number[] {
  const v4 = /[\d.]+$/.exec(text)?.[0] ?? "";
  const [a, b, c, d] = v4.split(".").map(Number) as [number, number, number, number];
  const plain = v4.includes(".") ? `${text.slice(0, -v4.length)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}` : text;
  const [head = [], tail] = plain
    .split("::")
    .map((half) => (half === "" ? [] : half.split(":").map((group) => Number.parseInt(group, 16))));
  return tail ? [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail] : head;
}

export function addressNumber(address: string, family: Family): bigint {
  const [parts, bits] = family === "ipv4" ? [address.split(".").map(Number), 8n] : [groupsOf(address), 16n];
  return parts.reduce((sum, part) => (sum << bits) | BigInt(part), 0n);
}

/** The usual text: lower case, the longest run of zeros left out. */
function usualV6(text: string): string {
  const groups = groupsOf(text);
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff)
    return `::ffff:${groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 255])
      .join(".")}`;
  let [start, length] = [-1, 1];
  for (let at = 0; at < 8; at += 1) {
    let end = at;
    while (end < 8 && groups[end] === 0) end += 1;
    if (end - at > length) [start, length] = [at, end - at];
  }
  const hex = groups.map((group) => group.toString(16));
  return start < 0 ? hex.join(":") : `${hex.slice(0, start).join(":")}::${hex.slice(start + length).join(":")}`;
}

export class SocketAddress {
  readonly #address: string;
  readonly #port: number;
  readonly #family: Family;
  readonly #flowlabel: number;

  constructor(options: SocketAddressOptions = {}) {
    if (typeof options !== "object" || options === null) throw invalidArgType("options", "of type object", options);
    const family = (options.family ?? "ipv4").toLowerCase();
    if (family !== "ipv4" && family !== "ipv6") throw invalidArgValue("options.family", options.family);
    const { address = family === "ipv4" ? "127.0.0.1" : "::", port = 0, flowlabel = 0 } = options;
    checkString(address, "options.address");
    if (!Number.isInteger(port) || port < 0 || port > 65_535)
      throw nodeError(
        RangeError,
        "ERR_SOCKET_BAD_PORT",
        `options.port should be >= 0 and < 65536. Received type ${typeof port} (${port}).`,
      );
    if (!Number.isInteger(flowlabel) || flowlabel < 0 || flowlabel > 0xffffffff)
      throw outOfRange("options.flowlabel", ">= 0 && <= 4294967295", flowlabel);
    if (family === "ipv4" ? !isIPv4(address) : !isIPv6(address) || address.includes("%")) throw invalid();
    this.#address = family === "ipv4" ? address : usualV6(address);
    this.#port = port;
    this.#family = family;
    this.#flowlabel = flowlabel;
  }

  get address(): string {
    return this.#address;
  }
  get port(): number {
    return this.#port;
  }
  get family(): Family {
    return this.#family;
  }
  get flowlabel(): number {
    return this.#flowlabel;
  }

  toJSON(): object {
    return { address: this.#address, port: this.#port, family: this.#family, flowlabel: this.#flowlabel };
  }

  static isSocketAddress(value: unknown): value is SocketAddress {
    return typeof value === "object" && value !== null && #address in value;
  }

  static parse(text: unknown): SocketAddress | undefined {
    checkString(text, "input");
    const [, v6, v4, port = "0"] = /^(?:\[([^\]]+)\]|([\d.]+))(?::(\d+))?$/.exec(text) ?? [];
    const address = v6 ?? v4;
    if (address === undefined || Number(port) > 65_535) return undefined;
    if (v6 === undefined ? !isIPv4(address) : !isIPv6(address)) return undefined;
    return new SocketAddress({ address, family: v6 === undefined ? "ipv4" : "ipv6", port: Number(port) });
  }
}
