/** Inside the isolate: `URL`. The parser is whatwg-url's. The class, its errors and how it is shown are Node's. */
import parser from "whatwg-url/lib/url-state-machine.js";
import type { UrlRecord } from "whatwg-url/lib/url-state-machine.js";
import { cloneAs, coded, expose, inspectAs, missing } from "../idl.ts";
import { paramsOf, setQuery, URLSearchParams } from "./url-search-params.ts";
import { usv } from "../text.ts";

export { URLSearchParams };

function parse(input: string, base: string | undefined): UrlRecord | null {
  if (base === undefined) return parser.basicURLParse(input);
  const baseURL = parser.basicURLParse(base);
  return baseURL && parser.basicURLParse(input, { baseURL });
}

function broken(input: string, base?: string): Error {
  return Object.assign(coded(TypeError, "ERR_INVALID_URL", "Invalid URL"), { input, ...(base === undefined ? {} : { base }) });
}

export class URL {
  #url: UrlRecord;
  /** Made on first access. */
  #params: URLSearchParams | undefined;

  constructor(url: unknown, ...[base]: unknown[]) {
    if (arguments.length === 0) throw missing("url");
    const input = usv(url);
    const against = base === undefined ? undefined : usv(base);
    const parsed = parse(input, against);
    if (!parsed) throw broken(input, against);
    this.#url = parsed;
  }

  static canParse(url: unknown, ...[base]: unknown[]): boolean {
    if (arguments.length === 0) throw missing("url");
    return parse(usv(url), base === undefined ? undefined : usv(base)) !== null;
  }

  static parse(url: unknown, ...[base]: unknown[]): URL | null {
    if (arguments.length === 0) throw missing("url");
    return URL.canParse(url, base) ? new URL(url, base) : null;
  }

  toString(): string {
    return parser.serializeURL(this.#url);
  }
  get href(): string {
    return parser.serializeURL(this.#url);
  }
  set href(value: unknown) {
    const input = usv(value);
    const parsed = parser.basicURLParse(input);
    if (!parsed) throw broken(input);
    this.#url = parsed;
    this.#queryChanged();
  }
  get origin(): string {
    return parser.serializeURLOrigin(this.#url);
  }
  get protocol(): string {
    return `${this.#url.scheme}:`;
  }
  set protocol(value: unknown) {
    this.#set(`${usv(value)}:`, "scheme start");
  }
  get username(): string {
    return this.#url.username;
  }
  set username(value: unknown) {
    const text = usv(value);
    if (!parser.cannotHaveAUsernamePasswordPort(this.#url)) parser.setTheUsername(this.#url, text);
  }
  get password(): string {
    return this.#url.password;
  }
  set password(value: unknown) {
    const text = usv(value);
    if (!parser.cannotHaveAUsernamePasswordPort(this.#url)) parser.setThePassword(this.#url, text);
  }
  get host(): string {
    return this.#url.port === null ? this.hostname : `${this.hostname}:${this.#url.port}`;
  }
  set host(value: unknown) {
    const text = usv(value);
    if (!parser.hasAnOpaquePath(this.#url)) this.#set(text, "host");
  }
  get hostname(): string {
    return this.#url.host === null ? "" : parser.serializeHost(this.#url.host);
  }
  set hostname(value: unknown) {
    const text = usv(value);
    if (!parser.hasAnOpaquePath(this.#url)) this.#set(text, "hostname");
  }
  get port(): string {
    return this.#url.port === null ? "" : String(this.#url.port);
  }
  set port(value: unknown) {
    const text = usv(value);
    if (parser.cannotHaveAUsernamePasswordPort(this.#url)) return;
    if (text === "") this.#url.port = null;
    else this.#set(text, "port");
  }
  get pathname(): string {
    return parser.serializePath(this.#url);
  }
  set pathname(value: unknown) {
    const text = usv(value);
    if (parser.hasAnOpaquePath(this.#url)) return;
    this.#url.path = [];
    this.#set(text, "path start");
  }
  get search(): string {
    return this.#url.query ? `?${this.#url.query}` : "";
  }
  set search(value: unknown) {
    const text = usv(value);
    this.#url.query = text === "" ? null : "";
    if (text !== "") this.#set(text.replace(/^\?/, ""), "query");
    this.#queryChanged();
  }
  get searchParams(): URLSearchParams {
    this.#params ??= paramsOf(this.#url.query ?? "", (query) => void (this.#url.query = query === "" ? null : query));
    return this.#params;
  }
  get hash(): string {
    return this.#url.fragment ? `#${this.#url.fragment}` : "";
  }
  set hash(value: unknown) {
    const text = usv(value);
    this.#url.fragment = text === "" ? null : "";
    if (text !== "") this.#set(text.replace(/^#/, ""), "fragment");
  }
  toJSON(): string {
    return parser.serializeURL(this.#url);
  }

  #set(text: string, stateOverride: string): void {
    parser.basicURLParse(text, { url: this.#url, stateOverride });
  }
  #queryChanged(): void {
    if (this.#params) setQuery(this.#params, this.#url.query ?? "");
  }
}

expose(URL);
cloneAs(URL);
for (const name of ["parse", "canParse"]) Object.defineProperty(URL, name, { enumerable: true });
inspectAs<URL>(URL, (self) => ({
  href: self.href,
  origin: self.origin,
  protocol: self.protocol,
  username: self.username,
  password: self.password,
  host: self.host,
  hostname: self.hostname,
  port: self.port,
  pathname: self.pathname,
  search: self.search,
  searchParams: self.searchParams,
  hash: self.hash,
}));
