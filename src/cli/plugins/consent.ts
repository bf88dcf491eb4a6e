/**
 * How an operator consents: at a terminal, or with the digest of the review. Anything else is a no. SECURITY:
 * test/cli/verbs/plugins/install.test.ts, and test/cli/consent-terminal.test.ts on a pseudo-terminal
 */
import { concernsOf, expectMeant } from "../../install/review/grant-concerns.ts";
import type { Concern } from "../../install/review/grant-concerns.ts";
import { usualPermissionKeys } from "../../install/install.ts";
import type { Decision } from "../../install/install.ts";
import type { Review } from "../../install/review/review.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { LockEntry } from "../../state/lock.ts";
import { commandLine } from "../self.ts";
import { askerAt, isYes } from "../ui/question.ts";
import type { Ask, Keyboard } from "../ui/question.ts";
import type { Terminal } from "../ui/terminal.ts";

export interface Consent {
  readonly verb: "install" | "update";
  readonly accept: readonly string[];
  readonly grant: readonly string[];
  readonly noGrant: readonly string[];
  /** A grant that was never asked for is meant; one that allows unencrypted traffic is meant. */
  readonly isUnasked: boolean;
  readonly isInsecure: boolean;
  /** As it was given, for commands that are proposed. */
  readonly project: Readonly<Record<string, string | undefined>>;
  /** Undefined: there is no one to ask. */
  readonly ask: Ask | undefined;
  /** Several plugins are reviewed, so a digest may belong to another one. */
  readonly isOneOfMany: boolean;
}

export interface ConsentValues {
  readonly accept?: readonly string[];
  readonly grant?: readonly string[];
  readonly "no-grant"?: readonly string[];
  readonly unasked?: boolean;
  readonly insecure?: boolean;
  readonly config?: string;
  readonly "state-dir"?: string;
}

export interface ConsentContext {
  readonly verb: Consent["verb"];
  readonly isJson: boolean;
  readonly isOneOfMany?: boolean;
  /** What was done so far, for a person who interrupts. */
  readonly outcome: () => string;
  readonly keyboard?: Keyboard;
}

export function consentOf(values: ConsentValues, { verb, isJson, isOneOfMany = false, outcome, keyboard }: ConsentContext): Consent {
  const { accept = [], grant = [], "no-grant": noGrant = [], unasked: isUnasked = false, insecure: isInsecure = false } = values;
  const ask = isJson ? undefined : askerAt(outcome, keyboard);
  const project = { config: values.config, "state-dir": values["state-dir"] };
  return { verb, accept, grant, noGrant, isUnasked, isInsecure, project, ask, isOneOfMany };
}

export async function decide(
  review: Review,
  digest: string,
  before: LockEntry | undefined,
  consent: Consent,
  { line, paint }: Terminal,
): Promise<Decision> {
  const { verb, accept, grant, noGrant, ask, isOneOfMany } = consent;
  const keys = new Set(usualPermissionKeys(review, before));
  for (const key of grant) keys.add(key);
  for (const key of noGrant)
    if (!keys.delete(key))
      throw new CreelError("ERR_INSTALL_GRANT", {
        key,
        hint: ": it would not be granted anyway",
        known: [...keys].join(", ") || "none",
      });
  const concerns = (chosen: Iterable<string>): Concern[] =>
    concernsOf(
      chosen,
      review.permissions.map(({ key }) => key),
      before,
    );
  if (accept.includes(digest)) {
    const what = verb === "install" ? review.source.spec : review.id;
    const words = [verb, what, "--accept", digest, ...grant.flatMap((key) => ["--grant", key])];
    expectMeant(concerns(keys), consent, review.id, (...flags) => [commandLine(words, consent.project), ...flags].join(" "));
    return { isAccepted: true, keys };
  }
  if (accept.length > 0 && !isOneOfMany) throw new CreelError("ERR_INSTALL_DIGEST", { given: accept.join(", "), found: digest });
  if (!ask) return { isAccepted: false };
  line();
  line(keys.size === 0 ? "It will get no permissions." : `It will be granted: ${[...keys].join(", ")}`);
  const choice = review.permissions.length === 0 ? "" : ", [c]hoose permissions";
  const does = verb === "install" ? "Install it" : "Update it";
  const answer = await ask(`${does}? [y]es, [N]o${choice}: `);
  if (isYes(answer)) return (await isMeant(concerns(keys), ask, line)) ? { isAccepted: true, keys } : { isAccepted: false };
  if (answer !== "c") return { isAccepted: false };
  const chosen = new Set(keys);
  for (const { key, words } of review.permissions) {
    const isUsual = keys.has(key);
    const said = await ask(`  ${paint("cyan", key)}: ${words} ${isUsual ? "[Y/n]" : "[y/N]"} `);
    if (said === "" ? isUsual : isYes(said)) chosen.add(key);
    else chosen.delete(key);
  }
  if (!(await isMeant(concerns(chosen), ask, line))) return { isAccepted: false };
  return isYes(await ask(`${does} with these? [y/N] `)) ? { isAccepted: true, keys: chosen } : { isAccepted: false };
}

/** The second yes, one for each. */
export async function isMeant(concerns: readonly Concern[], ask: Ask, line: Terminal["line"]): Promise<boolean> {
  for (const { key, isUnasked, isInsecure, hint } of concerns) {
    const why = [
      ...(isUnasked ? [`the plugin never requested it${hint}`] : []),
      ...(isInsecure ? ["it allows unencrypted connections: anyone on the network path can read and change the traffic"] : []),
    ];
    line(`  ${key}: ${why.join("; ")}`);
    if (!isYes(await ask("  Grant it anyway? [y/N] "))) return false;
  }
  return true;
}
