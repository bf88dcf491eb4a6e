/**
 * Trusted side: what may stand in the audit log of what gateways send and plugins answer: without the secrets that the host knows, and cut. All of it
 * is a stranger's text. SECURITY: half a secret is not found, so what is cut ends where none can have begun. test/contract/audit.test.ts
 */
import type { AuditShown } from "../../protocol/audit-line.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { oneLine } from "../one-line.ts";
import type { Plugin } from "../plugin.ts";
import { Redactor } from "../services/redact.ts";
import type { Redaction } from "../services/redact.ts";
import { isSecretName } from "../visible-config.ts";

export class Cleaner {
  readonly #redactions: readonly Redaction[];
  readonly #shortest: number;

  constructor(redactions: readonly Redaction[]) {
    this.#redactions = redactions;
    const lengths = redactions.flatMap(({ forms }) => forms.map(({ bytes }) => bytes.length));
    this.#shortest = Math.min(...lengths);
  }

  /** One line of at most so many characters. */
  words(text: string, max: number = LIMITS.auditTextChars): string {
    return oneLine(this.#beginning(text, 2 * max), max);
  }

  /** JSON, of which at most so many characters are kept. */
  json(text: string, max: number = LIMITS.auditValueChars): AuditShown {
    const clean = this.#beginning(text, max);
    if (text.length <= max) {
      try {
        return { value: JSON.parse(clean) as unknown };
      } catch {
        // What stood for a secret was no text, but the structure itself.
      }
    }
    return { text: clean.slice(0, max), chars: text.length };
  }

  /** Without secrets; where it ends before the text does, also without what may be the first half of one. */
  #beginning(text: string, max: number): string {
    const cut = text.slice(0, max);
    // A character is three bytes at most.
    if (cut.length * 3 < this.#shortest && cut.length === text.length) return text;
    const redactor = new Redactor(this.#redactions);
    const decided = redactor.push(Buffer.from(cut));
    return (cut.length < text.length ? decided : Buffer.concat([decided, redactor.end()])).toString();
  }
}

/** What a plugin is told in its environment or configuration under a name that means a secret: its value and that name. */
export function secretsOf({ env, grants, config }: Pick<Plugin, "env" | "grants" | "config">): Map<string, string> {
  const found = new Map<string, string>();
  const note = (name: string, value: unknown): void => {
    if (typeof value !== "string" || value.length < LIMITS.secretChars || value.length > LIMITS.secretMaxChars) return;
    // Others are not looked for in a server's answer, either.
    if (/^[\u0020-\u007e]+$/.test(value)) found.set(value, oneLine(name, 64).replaceAll(/[^\w.-]/g, "_"));
  };
  const seen = { ...Object.fromEntries((grants.env ?? []).map((name) => [name, process.env[name]])), ...env };
  for (const [name, value] of Object.entries(seen)) if (isSecretName(name)) note(name, value);
  for (const [name, value] of leaves(config)) note(name, value);
  return found;
}

/** How deep an operator's configuration is looked into. */
const DEPTH = 16;

function* leaves(value: unknown, name = "", isSecret = false, depth = 0): Generator<[name: string, value: unknown]> {
  if (typeof value !== "object" || value === null) {
    if (isSecret) yield [name, value];
    return;
  }
  if (depth > DEPTH) return;
  for (const [key, inner] of Object.entries(value)) yield* leaves(inner, isSecret ? name : key, isSecret || isSecretName(key), depth + 1);
}
