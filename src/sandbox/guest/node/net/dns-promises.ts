/**
 * Inside the isolate: `dns/promises`, for names that a connect grant names. The host resolves them, and answers only
 * with addresses that it would connect to.
 */
import { invalidArgType, nodeError } from "../errors.ts";
import { lookUp } from "./connection.ts";
import { isIP } from "./ip.ts";
import { rememberName } from "./known-names.ts";

export interface Found {
  readonly address: string;
  readonly family: number;
}

interface LookupOptions {
  readonly all?: boolean;
  readonly family?: number | string;
}

function fault(syscall: string, code: string, hostname: string): Error {
  return Object.assign(nodeError(Error, code, `${syscall} ${code} ${hostname}`), { syscall, hostname });
}

export async function addresses(syscall: string, hostname: string, family: number): Promise<readonly Found[]> {
  const name = hostname.toLowerCase().replace(/\.$/, "");
  let found: readonly Found[];
  try {
    found = await lookUp(name);
  } catch (error) {
    if ((error as { code?: string }).code === "ENOTFOUND") throw fault(syscall, "ENOTFOUND", hostname);
    throw error;
  }
  const wanted = found.filter((one) => family === 0 || one.family === family);
  if (wanted.length === 0) throw fault(syscall, syscall === "getaddrinfo" ? "ENOTFOUND" : "ENODATA", hostname);
  for (const { address } of wanted) rememberName(address, name);
  return wanted;
}

export async function lookup(hostname: string, given?: LookupOptions | number): Promise<Found | readonly Found[]> {
  if (typeof hostname !== "string") throw invalidArgType("hostname", "of type string", hostname);
  const options: LookupOptions = typeof given === "number" ? { family: given } : (given ?? {});
  const family = Number(String(options.family ?? 0).replace("IPv", ""));
  const own = isIP(hostname);
  const found = own === 0 ? await addresses("getaddrinfo", hostname, family) : [{ address: hostname, family: own }];
  return options.all ? found : found[0]!;
}

async function resolve4(hostname: string): Promise<string[]> {
  return (await addresses("queryA", hostname, 4)).map(({ address }) => address);
}

async function resolve6(hostname: string): Promise<string[]> {
  return (await addresses("queryAaaa", hostname, 6)).map(({ address }) => address);
}

async function resolve(hostname: string, type = "A"): Promise<unknown> {
  if (type === "A") return resolve4(hostname);
  if (type === "AAAA") return resolve6(hostname);
  throw fault(`query${type}`, "ENOTIMP", hostname);
}

const without = (type: string) => async (hostname: string) => resolve(hostname, type);

/** Records of other types than addresses: the host does not ask for them. */
export const WITHOUT = {
  resolveAny: without("ANY"),
  resolveCaa: without("CAA"),
  resolveCname: without("CNAME"),
  resolveMx: without("MX"),
  resolveNaptr: without("NAPTR"),
  resolveNs: without("NS"),
  resolvePtr: without("PTR"),
  resolveSoa: without("SOA"),
  resolveSrv: without("SRV"),
  resolveTlsa: without("TLSA"),
  resolveTxt: without("TXT"),
  reverse: without("PTR"),
};

/** The gateway's name servers are the host's business. */
export const SERVERS = { getServers: (): string[] => [], setServers: (): void => {} };

export const CODES = {
  NODATA: "ENODATA",
  FORMERR: "EFORMERR",
  SERVFAIL: "ESERVFAIL",
  NOTFOUND: "ENOTFOUND",
  NOTIMP: "ENOTIMP",
  REFUSED: "EREFUSED",
  BADQUERY: "EBADQUERY",
  BADNAME: "EBADNAME",
  BADFAMILY: "EBADFAMILY",
  BADRESP: "EBADRESP",
  CONNREFUSED: "ECONNREFUSED",
  TIMEOUT: "ETIMEOUT",
  EOF: "EOF",
  FILE: "EFILE",
  NOMEM: "ENOMEM",
  DESTRUCTION: "EDESTRUCTION",
  BADSTR: "EBADSTR",
  BADFLAGS: "EBADFLAGS",
  NONAME: "ENONAME",
  BADHINTS: "EBADHINTS",
  NOTINITIALIZED: "ENOTINITIALIZED",
  LOADIPHLPAPI: "ELOADIPHLPAPI",
  ADDRGETNETWORKPARAMS: "EADDRGETNETWORKPARAMS",
  CANCELLED: "ECANCELLED",
};

export class Resolver {
  cancel(): void {}
  setLocalAddress(): void {}
}
Object.assign(Resolver.prototype, { resolve, resolve4, resolve6, ...WITHOUT, ...SERVERS });

let order = "verbatim";
export const ORDER = {
  getDefaultResultOrder: (): string => order,
  setDefaultResultOrder: (value: string): void => void (order = value),
};

export default { lookup, resolve, resolve4, resolve6, ...WITHOUT, ...SERVERS, ...CODES, ...ORDER, Resolver };
