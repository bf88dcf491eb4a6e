/**
 * A grant to open connections to one host and port: `db.example.com:5432`, or `tls://db.example.com:6380`, where the
 * connection must be TLS from its first byte. Only the canonical spelling is accepted, as for fetch grants.
 */
import * as z from "zod";

const EXAMPLE = "db.example.com:5432";
const SECURE = "tls://";
const NAME = /^(?=.{1,253}$)[a-z\d_](?:[a-z\d_-]{0,62}[a-z\d_])?(?:\.[a-z\d_](?:[a-z\d_-]{0,62}[a-z\d_])?)*$/;

/** What is wrong with a target, and what to write instead. Undefined: nothing is wrong. */
function targetFault(text: string): string | undefined {
  if (text.includes("*")) return `targets have no wildcards: name each host and port, such as "${EXAMPLE}"`;
  const address = text.startsWith(SECURE) ? text.slice(SECURE.length) : text;
  const [, host, port] = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(address) ?? [];
  if (host === undefined || port === undefined) return `"${text}" is not a target: write host and port, such as "${EXAMPLE}"`;
  if (Number(port) < 1 || Number(port) > 65_535 || String(Number(port)) !== port) return `"${port}" is not a port`;
  // The URL parser writes addresses in the one form that they are compared in.
  const canonical = URL.parse(`http://${host}`)?.hostname;
  if (canonical === undefined || canonical === "") return `"${host}" is not a host: write one such as "${EXAMPLE}"`;
  if (canonical !== host) return `write it as "${text.startsWith(SECURE) ? SECURE : ""}${canonical}:${port}"`;
  return host.startsWith("[") || NAME.test(host) ? undefined : `"${host}" is not a host: write one such as "${EXAMPLE}"`;
}

export const connectGrant = z.string().superRefine((text, context) => {
  const message = targetFault(text);
  if (message !== undefined) context.addIssue({ code: "custom", message });
});

/** How a host and a port are compared. `host` has no brackets. */
export function connectTarget(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The host of a target, without brackets. */
export function connectHost(target: string): string {
  return target.slice(target.startsWith(SECURE) ? SECURE.length : 0, target.lastIndexOf(":")).replaceAll(/^\[|\]$/g, "");
}

/** `plain`: the plugin decides about TLS. `tls`: only TLS is granted. Undefined: nothing is granted. */
export function matchConnect(grants: readonly string[], target: string): "plain" | "tls" | undefined {
  if (grants.includes(target)) return "plain";
  return grants.includes(SECURE + target) ? "tls" : undefined;
}

/** Does a grant include another? What may be plain may also be TLS. */
export function connectIncludes(given: string, asked: string): boolean {
  return given === asked || SECURE + given === asked;
}

export function isSecureTarget(target: string): boolean {
  return target.startsWith(SECURE);
}
