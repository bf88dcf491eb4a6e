/**
 * Trusted side: makes texts of gateways and plugins, which are untrusted, fit for the audit log: removes the secrets
 * that the host knows, and truncates. SECURITY: half a secret would not be found, so truncation ends where no secret
 * can have begun. test/contract/audit.test.ts
 */
import type { AuditShown } from "../../protocol/audit-line.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { oneLine } from "../../text/one-line.ts";
import type { Plugin } from "../plugins/plugin.ts";
import { Redactor } from "../services/secrets/redact.ts";
import { SecretFinder } from "../services/secrets/secret-finder.ts";
import type { Redaction } from "../services/secrets/secret-finder.ts";
import { isSecretName } from "../plugins/visible-config.ts";

export class Sanitiser {
  readonly #secrets: SecretFinder;

  constructor(redactions: readonly Redaction[]) {
    this.#secrets = new SecretFinder(redactions);
  }

  /** One line of at most this many characters. */
  words(text: string, max: number = LIMITS.audit.textChars): string {
    return oneLine(this.#beginning(text, 2 * max), max);
  }

  /** JSON, truncated to this many characters. */
  json(text: string, max: number = LIMITS.audit.valueChars): AuditShown {
    const clean = this.#beginning(text, max);
    if (text.length <= max) {
      try {
        return { value: JSON.parse(clean) as unknown };
      } catch {
        // The secret was not within a text but part of the structure.
      }
    }
    return { text: clean.slice(0, max), chars: text.length };
  }

  /** Without secrets, and where the text is truncated, without what may be the first half of one. */
  #beginning(text: string, max: number): string {
    const cut = text.slice(0, max);
    // A character has at most three bytes.
    if (cut.length * 3 < this.#secrets.shortest && cut.length === text.length) return text;
    const redactor = new Redactor(this.#secrets);
    const decided = redactor.push(Buffer.from(cut));
    return (cut.length < text.length ? decided : Buffer.concat([decided, redactor.end()])).toString();
  }
}

/** Values of a plugin's environment and configuration whose names suggest a secret, with those names. */
export function secretsOf({ env, grants, config }: Pick<Plugin, "env" | "grants" | "config">): Map<string, string> {
  const found = new Map<string, string>();
  const note = (name: string, value: unknown): void => {
    if (typeof value !== "string" || value.length < LIMITS.secrets.minChars || value.length > LIMITS.secrets.maxChars) return;
    // The redactor for server responses has the same minimum.
    if (/^[\u0020-\u007e]+$/.test(value)) found.set(value, oneLine(name, 64).replaceAll(/[^\w.-]/g, "_"));
  };
  const seen = { ...Object.fromEntries((grants.env ?? []).map((name) => [name, process.env[name]])), ...env };
  for (const [name, value] of Object.entries(seen)) if (isSecretName(name)) note(name, value);
  for (const [name, value] of leaves(config)) note(name, value);
  return found;
}

/** How deep to search an operator's configuration. */
const DEPTH = 16;

function* leaves(value: unknown, name = "", isSecret = false, depth = 0): Generator<[name: string, value: unknown]> {
  if (typeof value !== "object" || value === null) {
    if (isSecret) yield [name, value];
    return;
  }
  if (depth > DEPTH) return;
  for (const [key, inner] of Object.entries(value)) yield* leaves(inner, isSecret ? name : key, isSecret || isSecretName(key), depth + 1);
}
