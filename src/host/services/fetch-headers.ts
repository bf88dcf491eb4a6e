/** Trusted side: which headers of a plugin's request are sent, and which of the answer it sees. */
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { CAUSE_HEADER } from "../cause-tokens.ts";
import { oneLine } from "../guest-error.ts";
import type { Reply } from "./exchange.ts";

export type HeaderTable = Readonly<Record<string, string>>;

/** About the connection, which is the host's, or about the body's form on it. */
const CONNECTION = ["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "http2-settings"];
const OURS = new Set([...CONNECTION, "host", "content-length", "expect", "accept-encoding", "date", "via"]);
const UNSEEN = new Set([...CONNECTION, CAUSE_HEADER]);

/** What goes along to another origin. A list of what may, since a secret can be in a header of any name. */
const TRAVELLING = new Set(["accept", "accept-language", "content-type", "user-agent"]);
/** They describe the body, and go with it. */
const OF_BODY = new Set(["content-type", "content-encoding", "content-language", "content-location"]);

const NAME = /^[!#$%&'*+.^_`|~\w-]{1,128}$/;
// oxlint-disable-next-line no-control-regex -- a tab is the one control character that may be in a value
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

// SECURITY: no line break reaches the wire, and nothing that would make server and host disagree about the request. test/contract/fetch.test.ts
export function sendable(headers: HeaderTable): HeaderTable {
  const kept: [string, string][] = [];
  let bytes = 0;
  for (const [given, value] of Object.entries(headers)) {
    const name = given.toLowerCase();
    if (!NAME.test(name)) throw new CreelError("ERR_FETCH_HEADER", { detail: `"${oneLine(given, 64)}" is not a name` });
    if (!VALUE.test(value))
      throw new CreelError("ERR_FETCH_HEADER", { detail: `the value of ${name} has a character that cannot be sent` });
    if (OURS.has(name) || name.startsWith("proxy-") || name.startsWith("creel-")) continue;
    bytes += name.length + value.length;
    if (bytes > LIMITS.fetchHeaderBytes)
      throw new CreelError("ERR_FETCH_HEADER", { detail: `they have more than ${LIMITS.fetchHeaderBytes} bytes` });
    kept.push([name, value]);
  }
  return Object.fromEntries(kept);
}

/** After a redirect to another origin. */
export function withoutSecrets(headers: HeaderTable): HeaderTable {
  return pick(headers, (name) => TRAVELLING.has(name));
}

/** After a redirect that turned the request into a GET. */
export function withoutBody(headers: HeaderTable): HeaderTable {
  return pick(headers, (name) => !OF_BODY.has(name));
}

/**
 * SECURITY: how well a secret and a guess of the plugin's compress together tells how good the guess is (BREACH).
 * test/contract/secrets.test.ts
 */
export function withoutPackedLength(headers: Reply["headers"]): Reply["headers"] {
  if (headers["content-encoding"] === undefined) return headers;
  const { "content-length": _, ...rest } = headers;
  return rest;
}

/** `clean` takes secrets out of a text. */
export function visible(headers: Reply["headers"], clean: (text: string) => string): HeaderTable {
  const seen: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    // A name that has to be cleaned is none of a header.
    if (value === undefined || UNSEEN.has(name) || clean(name) !== name) continue;
    const values = typeof value === "string" ? [value] : value;
    seen.push([name, values.map(clean).join(name === "set-cookie" ? "\n" : ", ")]);
  }
  return Object.fromEntries(seen);
}

function pick(headers: HeaderTable, test: (name: string) => boolean): HeaderTable {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => test(name)));
}
