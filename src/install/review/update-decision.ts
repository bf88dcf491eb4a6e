/**
 * Trusted side: whether the operator's policy (`update` in creel.json) accepts an update without asking. Pure: it uses
 * only the given facts, and lists every objection. Unknown facts count as objections. SECURITY:
 * test/install/review/update-decision.test.ts
 */
import type { UpdatePolicy } from "../../protocol/config/update-policy.ts";
import { newsOf, severities } from "./review.ts";
import type { Review } from "./review.ts";
import type { Signed } from "../manifest/signature.ts";

const DAY_MS = 24 * 3_600_000;

export interface UpdateFacts {
  readonly review: Review;
  /** The accepted review; undefined: it cannot be read. */
  readonly accepted: Review | undefined;
  /** When the registry says that it was published. */
  readonly publishedAt: Date | undefined;
  /** With `minAgeDays`: is every package that it did not need before so old? */
  readonly areDependenciesOld: boolean;
  readonly signed: Signed;
  readonly nowMs: number;
}

export interface PolicyDecision {
  readonly isAccepted: boolean;
  /** Why it takes a person. */
  readonly against: readonly string[];
  /** The rules that accepted it, for the log. */
  readonly why: string;
}

export function policyDecision(policy: UpdatePolicy | undefined, facts: UpdateFacts): PolicyDecision {
  const { auto = "never", minAgeDays, signedBy } = policy ?? {};
  const why = ["update.auto: same-permissions"];
  if (auto === "never") return { isAccepted: false, against: ["update.auto is never"], why: "" };
  const against = [...changedScope(facts)];
  if (minAgeDays !== undefined) {
    why.push(`at least ${minAgeDays} days old`);
    against.push(...tooYoung(facts, minAgeDays));
  }
  if (signedBy !== undefined) {
    against.push(...notSigned(facts, signedBy));
    if (facts.signed.state === "good") why.push(`signed by ${facts.signed.key}`);
  }
  return { isAccepted: against.length === 0, against, why: why.join(", ") };
}

function* changedScope({ review, accepted }: UpdateFacts): Generator<string> {
  if (!accepted) {
    yield "the accepted review cannot be read, so nothing can be compared";
    return;
  }
  for (const { what, text } of newsOf(review)) yield `new ${what}: ${text}`;
  const known = new Set(accepted.scan.origins.map(({ origin }) => origin));
  for (const { origin } of review.scan.origins) if (!known.has(origin)) yield `new address in its code: ${origin}`;
  const before = new Set(accepted.dependencies.map(nameOf));
  for (const dependency of review.dependencies) if (!before.has(nameOf(dependency))) yield `new required package: ${dependency}`;
  const { critical } = severities(review.scan);
  if (critical > 0) yield `${critical} critical finding${critical === 1 ? "" : "s"}`;
  if (isLower(review.version, accepted.version)) yield `an older version: ${accepted.version} → ${review.version}`;
}

function* tooYoung({ publishedAt, areDependenciesOld, nowMs }: UpdateFacts, minAgeDays: number): Generator<string> {
  if (publishedAt === undefined) yield "the registry does not say when it was published";
  else if (nowMs - publishedAt.getTime() < minAgeDays * DAY_MS)
    yield `published on ${publishedAt.toISOString().slice(0, 10)}, less than ${minAgeDays} days ago`;
  if (!areDependenciesOld) yield `it requires a package that is less than ${minAgeDays} days old or of unknown age`;
}

function* notSigned({ review, accepted, signed }: UpdateFacts, keys: readonly string[]): Generator<string> {
  if (signed.state === "none") yield "it is not signed";
  else if (signed.state === "bad") yield "its signature does not match its files";
  else if (!keys.includes(signed.key)) yield `it is signed by ${signed.key}, which update.signedBy does not name`;
  // The signature does not cover them.
  const before = new Set(accepted?.dependencies);
  if (review.dependencies.some((one) => !before.has(one)))
    yield "it requires other packages than before, which its signature does not cover";
}

function nameOf(dependency: string): string {
  return dependency.slice(0, dependency.lastIndexOf("@"));
}

/** Compares the three numbers; other versions are not compared. */
function isLower(now: string | undefined, before: string | undefined): boolean {
  const [a, b] = [now, before].map((text) =>
    /^v?(\d+)\.(\d+)\.(\d+)/
      .exec(text ?? "")
      ?.slice(1)
      .map(Number),
  );
  if (!a || !b) return false;
  const at = a.findIndex((part, index) => part !== b[index]);
  return at !== -1 && a[at]! < b[at]!;
}
