/** Inside the isolate: `url.parse`, `url.format` and `url.resolve`, which are older than `URL`. */
import { URL } from "../web/url/url.ts";
import { checkString, invalidArgType, nodeError } from "./errors.ts";
import querystring from "./querystring.ts";

/** Protocols whose paths begin with a slash, even empty ones. */
const SLASHED = new Set(["http:", "https:", "ftp:", "gopher:", "file:", "ws:", "wss:"]);
/** Characters that are escaped everywhere. */
const ESCAPED = /[\t\n\r "'<>\\^`{|}]/g;
const SIMPLE = /^(\/\/?(?!\/)[^?\s]*)(\?\S*)?$/;

export class Url {
  protocol: string | null = null;
  slashes: boolean | null = null;
  auth: string | null = null;
  host: string | null = null;
  port: string | null = null;
  hostname: string | null = null;
  hash: string | null = null;
  search: string | null = null;
  query: string | Record<string, unknown> | null = null;
  pathname: string | null = null;
  path: string | null = null;
  href: string | null = null;

  parse(text: unknown, parseQuery = false, slashesDenoteHost = false): this {
    checkString(text, "url");
    const trimmed = withSlashes(text.trim());
    const simple = slashesDenoteHost || trimmed.includes("#") ? null : SIMPLE.exec(trimmed);
    if (simple) {
      const [, pathname, search] = simple;
      this.pathname = pathname!;
      this.path = this.href = trimmed;
      if (search !== undefined) this.#setSearch(search, parseQuery);
      else if (parseQuery) this.#setSearch(null, true);
      return this;
    }
    let rest = this.#takeHost(trimmed, slashesDenoteHost);
    if (this.protocol !== "javascript:")
      rest = rest.replaceAll(ESCAPED, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
    const hash = rest.indexOf("#");
    if (hash >= 0) {
      this.hash = rest.slice(hash);
      rest = rest.slice(0, hash);
    }
    const question = rest.indexOf("?");
    if (question >= 0 || parseQuery) this.#setSearch(question >= 0 ? rest.slice(question) : null, parseQuery);
    const pathname = question >= 0 ? rest.slice(0, question) : rest;
    if (pathname !== "") this.pathname = pathname;
    else if (SLASHED.has(this.protocol ?? "") && this.hostname) this.pathname = "/";
    if (this.pathname !== null || this.search) this.path = (this.pathname ?? "") + (this.search ?? "");
    this.href = this.format();
    return this;
  }

  #setSearch(search: string | null, parseQuery: boolean): void {
    this.search = search ?? (parseQuery ? "" : null);
    const query = search === null ? "" : search.slice(1);
    this.query = parseQuery ? querystring.parse(query) : query;
    if (parseQuery && search === null) this.search = null;
  }

  /** Parses protocol, slashes, auth and host. Returns the rest. */
  #takeHost(text: string, slashesDenoteHost: boolean): string {
    let rest = text;
    const protocol = /^[\d.+a-z-]+:/i.exec(rest)?.[0];
    if (protocol !== undefined) {
      this.protocol = protocol.toLowerCase();
      rest = rest.slice(protocol.length);
    }
    const isHostless = this.protocol === "javascript:";
    const hasSlashes = (slashesDenoteHost || protocol !== undefined || /^\/\/[^/@]+@[^/@]+/.test(rest)) && rest.startsWith("//");
    if (hasSlashes && !isHostless) {
      rest = rest.slice(2);
      this.slashes = true;
    }
    if (isHostless || !(hasSlashes || (this.protocol !== null && !SLASHED.has(this.protocol)))) return rest;
    const end = rest.search(/[#/?]/);
    let host = end < 0 ? rest : rest.slice(0, end);
    rest = end < 0 ? "" : rest.slice(end);
    const at = host.lastIndexOf("@");
    if (at >= 0) {
      this.auth = decodeURIComponent(host.slice(0, at));
      host = host.slice(at + 1);
    }
    // A character that no host name can have ends it.
    const odd = host.search(/[\t\n\r "%'*;<>\\^`{|}]/);
    if (odd >= 0) {
      rest = (/^[#/?]/.test(host.slice(odd)) ? "" : "/") + host.slice(odd) + rest;
      host = host.slice(0, odd);
    }
    const port = /:(\d*)$/.exec(host);
    if (port) {
      if (port[1] !== "") this.port = port[1]!;
      host = host.slice(0, -port[0].length);
    }
    const isAddress = host.startsWith("[") && host.endsWith("]");
    this.hostname = isAddress ? host.slice(1, -1).toLowerCase() : asciiHost(host);
    this.host = (isAddress ? `[${this.hostname}]` : this.hostname) + (this.port === null ? "" : `:${this.port}`);
    return rest;
  }

  format(): string {
    const auth = this.auth ? `${encodeURIComponent(this.auth).replace(/%3A/i, ":")}@` : "";
    let protocol = this.protocol ?? "";
    if (protocol !== "" && !protocol.endsWith(":")) protocol += ":";
    let pathname = (this.pathname ?? "").replaceAll("#", "%23").replaceAll("?", "%3F");
    let host = this.host ? auth + this.host : "";
    if (!this.host && this.hostname) {
      const isAddress = this.hostname.includes(":") && !this.hostname.startsWith("[");
      host = auth + (isAddress ? `[${this.hostname}]` : this.hostname) + (this.port ? `:${this.port}` : "");
    }
    const query = typeof this.query === "object" && this.query !== null ? querystring.stringify(this.query) : "";
    let search = this.search || (query === "" ? "" : `?${query}`);
    if (search !== "" && !search.startsWith("?")) search = `?${search}`;
    if (this.slashes || SLASHED.has(protocol)) {
      if (this.slashes || host !== "") {
        if (pathname !== "" && !pathname.startsWith("/")) pathname = `/${pathname}`;
        host = `//${host}`;
      } else if (protocol === "file:") host = "//";
    }
    const hash = this.hash && !this.hash.startsWith("#") ? `#${this.hash}` : (this.hash ?? "");
    return protocol + host + pathname + search.replaceAll("#", "%23") + hash;
  }

  resolve(relative: string): string {
    return this.resolveObject(relative).format();
  }

  resolveObject(relative: unknown): Url {
    const to = relative instanceof Url ? relative : new Url().parse(relative, false, true);
    const result = Object.assign(new Url(), this, { hash: to.hash }) as Url;
    if (to.href === "") {
      result.href = result.format();
      return result;
    }
    const isOther = to.protocol !== null && to.protocol !== this.protocol;
    if (isOther || (to.slashes && to.host !== null)) {
      const protocol = to.protocol ?? this.protocol;
      Object.assign(result, to, { protocol });
      if (to.pathname !== null && to.host) result.pathname = tidied(to.pathname, true);
    } else if (to.pathname) {
      Object.assign(result, { search: to.search, query: to.query });
      const base = this.pathname ?? "";
      const isRooted = to.pathname.startsWith("/") || base.startsWith("/") || Boolean(this.host);
      const joined = to.pathname.startsWith("/") ? to.pathname : base.slice(0, base.lastIndexOf("/") + 1) + to.pathname;
      result.pathname = tidied(joined, isRooted);
    } else if (to.search !== null) Object.assign(result, { search: to.search, query: to.query });
    result.path = (result.pathname ?? "") + (result.search ?? "");
    result.href = result.format();
    return result;
  }
}

/** Backslashes before the query count as slashes. */
function withSlashes(text: string): string {
  const end = text.search(/[#?]/);
  return end < 0 ? text.replaceAll("\\", "/") : text.slice(0, end).replaceAll("\\", "/") + text.slice(end);
}

function asciiHost(host: string): string {
  const lower = host.toLowerCase();
  // oxlint-disable-next-line no-control-regex -- it tests for ASCII
  if (/^[\0-\x7F]*$/.test(lower)) return lower;
  const parsed = URL.parse(`http://${lower}`);
  if (!parsed) throw nodeError(TypeError, "ERR_INVALID_URL", "Invalid URL");
  return parsed.hostname;
}

/** Without `.` and `..`. */
function tidied(pathname: string, isRooted: boolean): string {
  const parts: string[] = [];
  const given = pathname.split("/");
  if (isRooted && given[0] === "") given.shift();
  for (const [i, part] of given.entries()) {
    const isLast = i === given.length - 1;
    if (part === ".") {
      if (isLast) parts.push("");
    } else if (part === "..") {
      if (parts.length > 0 && parts.at(-1) !== "..") parts.pop();
      else if (!isRooted) parts.push("..");
      if (isLast) parts.push("");
    } else parts.push(part);
  }
  return (isRooted ? "/" : "") + parts.join("/");
}

export function parse(text: unknown, parseQuery?: boolean, slashesDenoteHost?: boolean): Url {
  return text instanceof Url ? text : new Url().parse(text, parseQuery, slashesDenoteHost);
}

export function format(given: unknown, options?: { auth?: boolean; fragment?: boolean; search?: boolean }): string {
  if (typeof given === "string") return parse(given).format();
  if (typeof given !== "object" || given === null) throw invalidArgType("urlObject", "one of type string or an instance of Object", given);
  if (!(given instanceof URL)) return Object.assign(new Url(), given).format();
  const url = new URL(given.href);
  if (options?.auth === false) url.username = url.password = "";
  if (options?.fragment === false) url.hash = "";
  if (options?.search === false) url.search = "";
  return url.href;
}

export function resolve(from: unknown, to: unknown): string {
  return parse(from, false, true).resolve(to as string);
}

export function resolveObject(from: unknown, to: unknown): Url {
  return parse(from, false, true).resolveObject(to);
}
