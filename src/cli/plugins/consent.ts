/**
 * How an operator says yes: at a terminal, or, without one, by naming the digest of the review they have seen. Anything else is a no. SECURITY:
 * test/cli/install.test.ts
 */
import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { usualKeys } from "../../install/install.ts";
import type { Decision } from "../../install/install.ts";
import type { Review } from "../../install/review.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { LockEntry } from "../../state/lock.ts";
import type { Terminal } from "../ui/terminal.ts";

export interface Consent {
  readonly accept: readonly string[];
  readonly grant: readonly string[];
  readonly noGrant: readonly string[];
  /** Undefined: nobody is there to be asked. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** Several plugins are looked at: a digest may be meant for another. */
  readonly isOneOfMany: boolean;
}

export interface ConsentValues {
  readonly accept?: readonly string[];
  readonly grant?: readonly string[];
  readonly "no-grant"?: readonly string[];
}

/** Where a person may be. */
export interface Keyboard {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}

export function consentOf(
  values: ConsentValues,
  isJson: boolean,
  isOneOfMany = false,
  { input, output }: Keyboard = { input: process.stdin, output: process.stdout },
): Consent {
  const isThere = input.isTTY && output.isTTY && !isJson;
  const { accept = [], grant = [], "no-grant": noGrant = [] } = values;
  return { accept, grant, noGrant, ask: isThere ? (question) => atTerminal(question, { input, output }) : undefined, isOneOfMany };
}

/** Whoever leaves (Ctrl-C, Ctrl-D) has not said yes. */
async function atTerminal(question: string, keyboard: Keyboard): Promise<string> {
  const lines = createInterface(keyboard);
  const left = once(lines, "close").then(() => "");
  try {
    return await Promise.race([lines.question(question).catch(() => ""), left]);
  } finally {
    lines.close();
  }
}

export async function decide(
  review: Review,
  digest: string,
  before: LockEntry | undefined,
  { accept, grant, noGrant, ask, isOneOfMany }: Consent,
  { line, paint }: Terminal,
): Promise<Decision> {
  const keys = new Set(usualKeys(review, before));
  for (const key of grant) keys.add(key);
  for (const key of noGrant)
    if (!keys.delete(key))
      throw new CreelError("ERR_INSTALL_GRANT", {
        key,
        hint: ": it would not have been granted",
        known: [...keys].join(", ") || "there is none",
      });
  if (accept.includes(digest)) return { isAccepted: true, keys };
  if (accept.length > 0 && !isOneOfMany) throw new CreelError("ERR_INSTALL_DIGEST", { given: accept.join(", "), found: digest });
  if (!ask) return { isAccepted: false };
  line();
  line(keys.size === 0 ? "It would be granted nothing." : `It would be granted: ${[...keys].join(", ")}`);
  const choice = review.permissions.length === 0 ? "" : ", [c]hoose what is granted";
  const answer = (await ask(`Install it? [y]es, [N]o${choice}: `)).trim().toLowerCase();
  if (answer === "y" || answer === "yes") return { isAccepted: true, keys };
  if (answer !== "c") return { isAccepted: false };
  const chosen = new Set(grant);
  for (const { key, words } of review.permissions) {
    const isUsual = keys.has(key);
    const said = (await ask(`  ${paint("cyan", key)}: ${words} ${isUsual ? "[Y/n]" : "[y/N]"} `)).trim().toLowerCase();
    if (said === "" ? isUsual : said.startsWith("y")) chosen.add(key);
    else chosen.delete(key);
  }
  const last = (await ask("Install it with these? [y/N] ")).trim().toLowerCase();
  return last === "y" || last === "yes" ? { isAccepted: true, keys: chosen } : { isAccepted: false };
}
