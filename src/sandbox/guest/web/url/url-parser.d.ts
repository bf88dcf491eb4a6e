/** Internal files of whatwg-url, which ships no types for them. */
declare module "whatwg-url/lib/url-state-machine.js" {
  export interface UrlRecord {
    scheme: string;
    username: string;
    password: string;
    host: unknown;
    port: number | null;
    path: string | string[];
    query: string | null;
    fragment: string | null;
  }
  interface Parser {
    basicURLParse(input: string, options?: { baseURL?: UrlRecord | null; url?: UrlRecord; stateOverride?: string }): UrlRecord | null;
    serializeURL(url: UrlRecord): string;
    serializeURLOrigin(url: UrlRecord): string;
    serializePath(url: UrlRecord): string;
    serializeHost(host: unknown): string;
    setTheUsername(url: UrlRecord, text: string): void;
    setThePassword(url: UrlRecord, text: string): void;
    cannotHaveAUsernamePasswordPort(url: UrlRecord): boolean;
    hasAnOpaquePath(url: UrlRecord): boolean;
  }
  const parser: Parser;
  export default parser;
}
declare module "whatwg-url/lib/urlencoded.js" {
  const form: {
    parseUrlencodedString(text: string): [string, string][];
    serializeUrlencoded(pairs: readonly (readonly [string, string])[]): string;
  };
  export default form;
}
declare module "tr46" {
  export function toASCII(domain: string, options: object): string | null;
}
