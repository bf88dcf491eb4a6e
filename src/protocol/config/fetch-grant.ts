/**
 * A grant to send HTTP requests to one origin. Only the canonical spelling is accepted, so that what an operator reads
 * in a configuration is what the host compares. Anything else is refused with the spelling to write instead.
 */
import * as z from "zod";
import { key } from "./config-key.ts";

export const FETCH_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
export type FetchMethod = (typeof FETCH_METHODS)[number];

const EXAMPLE = "https://api.example.com";

/** What is wrong with an origin, and what to write instead. Undefined: nothing is wrong. */
function originFault(text: string): string | undefined {
  if (text.includes("*")) return `origins have no wildcards: name each host, such as "${EXAMPLE}"`;
  const url = URL.parse(text);
  if (!url) {
    const meant = URL.parse(`https://${text}`);
    return `"${text}" is not an origin: write "${meant ? meant.origin : EXAMPLE}"`;
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    // "localhost:3000" parses as a URL of the scheme "localhost".
    return `"${text}" is not an origin: write scheme, host and port, such as "${EXAMPLE}" or "http://localhost:3000"`;
  }
  if (url.origin === text) return undefined;
  if (url.username !== "" || url.password !== "") return `an origin has no user name or password: write "${url.origin}"`;
  if (url.pathname === "/") return `write it as "${url.origin}"`;
  return `an origin has no path: write { "origin": "${url.origin}", "pathPrefix": "${url.pathname}" }`;
}

function prefixFault(text: string): string | undefined {
  const url = URL.parse(text.startsWith("/") ? text : `/${text}`, EXAMPLE);
  if (!url || url.origin !== EXAMPLE) return `"${text}" is not a path: write one such as "/v1/"`;
  if (/%2f|%5c|%2e|%25/i.test(url.pathname)) return "a path prefix has no encoded slashes, dots or percent signs";
  return url.pathname === text ? undefined : `write it as "${url.pathname}"`;
}

function checked(fault: (text: string) => string | undefined) {
  return z.string().superRefine((text, context) => {
    const message = fault(text);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });
}

export const origin = checked(originFault);
export const fetchPrefix = checked(prefixFault);

export const fetchGrant = z.union([
  origin,
  z.strictObject({
    origin: origin.meta({ description: "Scheme, host and port, in the canonical spelling." }),
    methods: key(z.array(z.enum(FETCH_METHODS)).min(1), "Only these. Without it: all."),
    pathPrefix: key(fetchPrefix, "Only below it: `/v1` means `/v1` and what is below it. Without it: every path."),
    secret: key(z.string(), "A name of `secrets`: the host sends it along."),
  }),
]);
export type FetchGrant = z.infer<typeof fetchGrant>;
