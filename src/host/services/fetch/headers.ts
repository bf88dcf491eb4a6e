/** Trusted side: which headers of a plugin's request are sent, and which headers of the response the plugin sees. */
import { CreelError } from "../../../protocol/errors.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import { CAUSE_HEADER } from "../../causality/cause-tokens.ts";
import { oneLine } from "../../../text/one-line.ts";
import type { HttpResponse } from "./request.ts";

export type HeaderTable = Readonly<Record<string, string>>;

/** Headers about the connection, which belongs to the host, or about the body's encoding on it. */
const CONNECTION = ["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "http2-settings"];
const OURS = new Set([...CONNECTION, "host", "content-length", "expect", "accept-encoding", "date", "via"]);
const UNSEEN = new Set([...CONNECTION, CAUSE_HEADER]);

/** Sent on to another origin. An allow-list, since a header of any name may hold a secret. */
const TRAVELLING = new Set(["accept", "accept-language", "content-type", "user-agent"]);
/** They describe the body, and go only with it. */
const OF_BODY = new Set(["content-type", "content-encoding", "content-language", "content-location"]);

const NAME = /^[!#$%&'*+.^_`|~\w-]{1,128}$/;
// oxlint-disable-next-line no-control-regex -- a tab is the one control character that may be in a value
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

// SECURITY: no line break reaches the wire, and nothing that would make server and host disagree about the request.
// test/contract/fetch.test.ts
export function sendable(headers: HeaderTable): HeaderTable {
  const kept: [string, string][] = [];
  let bytes = 0;
  for (const [given, value] of Object.entries(headers)) {
    // Check the size first: a value may have a megabyte.
    bytes += given.length + value.length;
    if (bytes > LIMITS.fetch.headerBytes)
      throw new CreelError("ERR_FETCH_HEADER", { detail: `they have more than ${LIMITS.fetch.headerBytes} bytes` });
    const name = given.toLowerCase();
    if (!NAME.test(name)) throw new CreelError("ERR_FETCH_HEADER", { detail: `"${oneLine(given, 64)}" is not a header name` });
    if (!VALUE.test(value))
      throw new CreelError("ERR_FETCH_HEADER", { detail: `the value of ${name} has a character that cannot be sent` });
    if (OURS.has(name) || name.startsWith("proxy-") || name.startsWith("creel-")) continue;
    kept.push([name, value]);
  }
  return Object.fromEntries(kept);
}

/** For a redirect to another origin. */
export function withoutSecrets(headers: HeaderTable): HeaderTable {
  return pick(headers, (name) => TRAVELLING.has(name));
}

/** For a redirect that turns the request into a GET. */
export function withoutBody(headers: HeaderTable): HeaderTable {
  return pick(headers, (name) => !OF_BODY.has(name));
}

/**
 * SECURITY: the compressed length tells how well a plugin's guess matches a secret (BREACH).
 * test/contract/secrets.test.ts
 */
export function withoutPackedLength(headers: HttpResponse["headers"]): HttpResponse["headers"] {
  if (headers["content-encoding"] === undefined) return headers;
  const { "content-length": _, ...rest } = headers;
  return rest;
}

/** `clean` removes secrets from a text. */
export function visible(headers: HttpResponse["headers"], clean: (text: string) => string): HeaderTable {
  const seen: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    // Drop a header whose name contains a secret.
    if (value === undefined || UNSEEN.has(name) || clean(name) !== name) continue;
    const values = typeof value === "string" ? [value] : value;
    seen.push([name, values.map(clean).join(name === "set-cookie" ? "\n" : ", ")]);
  }
  return Object.fromEntries(seen);
}

function pick(headers: HeaderTable, test: (name: string) => boolean): HeaderTable {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => test(name)));
}
