/**
 * Trusted side: which requests the console's server looks at. Every process of the machine and every page in a browser can reach the port,
 * so a request must be addressed to this server by its own name and come from this server's own page, before its token counts.
 * The attacks behind each check: docs/security-model.md, "The console".
 */
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";

export interface Refused {
  readonly status: number;
  readonly why: string;
}

/** Files that a browser gets before it has a token. They hold nothing of this host. */
export const isPagePath = (path: string): boolean => path === "/" || /^\/app-[\w-]{1,32}\.(?:js|css)$/.test(path);

/** SECURITY: the order matters: names first, then origins; tokens are checked after. test/console/security.test.ts */
export function refusedBecause({ headers, method, url = "" }: IncomingMessage, names: ReadonlySet<string>): Refused | undefined {
  const path = pathOf(url);
  // DNS rebinding: a page whose own name was made to point here has that name as Host. 0.0.0.0 is not one of ours either.
  if (headers.host === undefined || !names.has(headers.host)) return { status: 421, why: "the Host header is not this server's address" };
  if (headers.upgrade !== undefined) return { status: 400, why: "there is no WebSocket here" };
  if (headers.origin !== undefined && headers.origin !== `http://${headers.host}`)
    return { status: 403, why: "the request comes from another origin" };
  const site = headers["sec-fetch-site"];
  const isNavigation = site === "none" && headers["sec-fetch-mode"] === "navigate" && path === "/";
  // Ports do not separate sites: a page of another port of this machine is "same-site", and refused.
  if (site !== undefined && site !== "same-origin" && !isNavigation) return { status: 403, why: `the request is ${site}` };
  if (method !== "GET" && method !== "POST") return { status: 405, why: "the method is neither GET nor POST" };
  if (method === "POST" && headers["content-type"] !== "application/json") return { status: 415, why: "the body is not application/json" };
  return undefined;
}

export function pathOf(url: string): string {
  const end = url.indexOf("?");
  return end < 0 ? url : url.slice(0, end);
}

/**
 * SECURITY: text of plugins cannot become markup or script, whatever the page forgets: no inline code, no other origin, no policy that
 * makes HTML from text. No other page can frame this one or read its answers. test/console/security.test.ts
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** On every answer. No answer has a CORS header or a cookie. */
export const SAFE_HEADERS: OutgoingHttpHeaders = {
  "content-security-policy": POLICY,
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=(), clipboard-read=()",
  "cache-control": "no-store",
};
