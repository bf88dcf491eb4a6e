/**
 * Trusted side: the review that an operator sees before a plugin is installed, as plain data. Operators accept its
 * digest, so a digest proves that exactly this was shown. The digest leaves out what the plugin logged and tried in the
 * dry run, which may differ each time; it includes the code, byte for byte.
 */
import * as z from "zod";
import type { BundleScan } from "../../bundler/messages.ts";
import { SEVERITIES } from "../../bundler/messages.ts";
import { oneLine } from "../../text/one-line.ts";
import { failurePolicy, ifItFails } from "../../protocol/rules/failure-policy.ts";
import type { FailurePolicy } from "../../protocol/rules/failure-policy.ts";
import { FUNCTION_KINDS } from "../../protocol/messages/function-kinds.ts";
import { digestOf, sorted } from "../../state/lock.ts";
import type { LockEntry } from "../../state/lock.ts";
import type { RequestedPermission } from "./requested-permissions.ts";
import { definitionOf } from "./requested-permissions.ts";
import { codeChange, codeWords } from "./code-diff.ts";

/** The accepted review, among the files of the store. */
export const REVIEW = "review.json";

const RISKS = [
  "it can stop what the gateway does, even by failing",
  "it can stop what the gateway does",
  "it can change what the gateway does",
  "it can answer instead of the gateway",
  "it can change what the gateway stores, and the gateway waits for it",
  "it reads conversations",
  "it is notified of events",
] as const;

export const reviewHook = z.object({
  hook: z.string(),
  priority: z.number(),
  /** 0 is the riskiest. */
  risk: z.int(),
  may: z.string(),
  /** What happens if the plugin fails or is not loaded. Older reviews lack it. */
  ifItFails: z.string().default(""),
  summary: z.string(),
});
export type ReviewHook = z.infer<typeof reviewHook>;

const finding = z.object({ rule: z.string(), severity: z.enum(SEVERITIES), file: z.string(), line: z.int(), message: z.string() });
const change = z.object({
  sign: z.enum(["+", "-", "="]),
  what: z.enum(["version", "code", "hook", "function", "permission"]),
  text: z.string(),
});
export type Change = z.infer<typeof change>;

export const review = z.object({
  id: z.string(),
  name: z.string(),
  version: z.string().optional(),
  description: z.string().optional(),
  source: z.object({ spec: z.string(), resolved: z.string(), integrity: z.string() }),
  bundle: z.object({ integrity: z.string(), bytes: z.int() }),
  /** Unpacked, with all it needs. */
  fetchedBytes: z.int(),
  dependencies: z.array(z.string()),
  hooks: z.array(reviewHook),
  functions: z.array(z.object({ kind: z.enum(FUNCTION_KINDS), name: z.string() })),
  permissions: z.array(
    z.object({
      key: z.string(),
      from: z.enum(["manifest", "hooks", "scan"]),
      words: z.string(),
      reason: z.string().optional(),
      grant: z.custom<RequestedPermission["grant"]>((value) => typeof value === "object" && value !== null),
      /** It was not asked for before, or not that much of it. */
      isNew: z.boolean(),
    }),
  ),
  /** Keys that the operator granted beyond what the plugin requested; an update keeps them. */
  kept: z.array(z.string()),
  scan: z.object({
    files: z.int(),
    origins: z.array(z.object({ origin: z.string(), file: z.string(), line: z.int() })),
    env: z.array(z.string()),
    findings: z.array(finding),
  }),
  /** Unknown APIs it used, and registrations that were not accepted. */
  remarks: z.array(z.string()),
  /** In the dry run. Not part of the digest. */
  tried: z.object({ log: z.array(z.string()), refused: z.array(z.string()) }),
  /** How the code differs from the installed version; absent: it is a new install. */
  code: codeChange.optional(),
  /** Compared with the installed version; empty: it is a new install. */
  changes: z.array(change),
});
export type Review = z.infer<typeof review>;
export type ReviewPermission = Review["permissions"][number];
export type Scan = Review["scan"];

export function reviewDigest(shown: Review): string {
  const { tried: _, ...seen } = shown;
  return digestOf(JSON.stringify(sorted(seen)));
}

export interface ReviewPolicy {
  readonly isRequired?: boolean | undefined;
  /** The operator's `hooks.failure`. */
  readonly failure?: Readonly<Record<string, FailurePolicy>> | undefined;
}

/** The riskiest first. */
export function reviewHooks(
  hooks: readonly { readonly hook: string; readonly priority: number }[],
  { isRequired = false, failure = {} }: ReviewPolicy = {},
): ReviewHook[] {
  return hooks
    .map(({ hook, priority }) => {
      const found = definitionOf(hook);
      const fails = found ? ifItFails(found, failurePolicy(found, isRequired, failure[hook])) : "";
      const risk = riskOf(hook);
      const summary = found?.name === hook ? found.summary : `Everything that happens to a ${oneLine(hook, 64)}.`;
      return { hook, priority, risk, may: RISKS[risk]!, ifItFails: fails, summary };
    })
    .toSorted((a, b) => a.risk - b.risk || b.priority - a.priority || (a.hook < b.hook ? -1 : 1));
}

function riskOf(key: string): number {
  const hook = definitionOf(key);
  if (!hook) return RISKS.length - 1;
  switch (hook.kind) {
    case "gate":
      return hook.failure === "closed" ? 0 : 1;
    case "modify":
      return 2;
    case "claim":
      return 3;
    case "sync":
      return 4;
    default:
      return hook.permission.includes("conversation") ? 5 : 6;
  }
}

export function scanOf({ files, origins, env, findings }: BundleScan, more: Scan["findings"]): Scan {
  const all = [...findings, ...more].toSorted((a, b) => SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity));
  const clean = all.map((one) => ({ ...one, file: oneLine(one.file, 256), message: oneLine(one.message, 300) }));
  return {
    files,
    origins: origins.map(({ origin, file, line }) => ({ origin, file: oneLine(file, 256), line })),
    env: env.map((name) => oneLine(name, 128)),
    findings: clean,
  };
}

/** How many of each severity. */
export function severities({ findings }: Pick<Scan, "findings">): Record<(typeof SEVERITIES)[number], number> {
  const count = (severity: string): number => findings.filter((one) => one.severity === severity).length;
  return { info: count("info"), warn: count("warn"), critical: count("critical") };
}

type Compared = Pick<Review, "version" | "code" | "hooks" | "functions" | "permissions" | "kept">;

/** What an update adds (+), drops (-) and keeps (=). `granted` are the granted permission keys. */
export function changesOf(now: Compared, before: LockEntry, granted: readonly string[]): Change[] {
  const versions: Change[] =
    now.version === before.version
      ? [{ sign: "=", what: "version", text: now.version ?? "none" }]
      : [
          { sign: "-", what: "version", text: before.version ?? "none" },
          { sign: "+", what: "version", text: now.version ?? "none" },
        ];
  const code: Change[] = now.code
    ? [{ sign: now.code.from === now.code.to && now.code.files.length === 0 ? "=" : "+", what: "code", text: codeWords(now.code) }]
    : [];
  return [
    ...versions,
    ...code,
    ...compared("hook", hookNames(now.hooks), hookNames(before.hooks)),
    ...compared("function", functionNames(now.functions), functionNames(before.functions)),
    ...now.permissions.map(({ key, isNew }): Change => ({ sign: isNew ? "+" : "=", what: "permission", text: key })),
    ...granted
      .filter((key) => !now.permissions.some((permission) => permission.key === key))
      .map((text): Change => ({ sign: now.kept.includes(text) ? "=" : "-", what: "permission", text })),
  ];
}

const hookNames = (hooks: LockEntry["hooks"]): string[] =>
  hooks.map(({ hook, priority }) => (priority === 0 ? hook : `${hook} (priority ${priority})`));
const functionNames = (functions: LockEntry["functions"]): string[] => functions.map(({ kind, name }) => `${kind} ${name}`);

function compared(what: Change["what"], now: readonly string[], before: readonly string[]): Change[] {
  const [after, earlier] = [new Set(now), new Set(before)];
  return [
    ...Array.from(after, (text): Change => ({ sign: earlier.has(text) ? "=" : "+", what, text })),
    ...[...earlier].filter((text) => !after.has(text)).map((text): Change => ({ sign: "-", what, text })),
  ];
}

/** What is new in an update, apart from its code. Candidates of the scan count, too. */
export function newsOf({ changes }: Pick<Review, "changes">): Change[] {
  return changes.filter(({ sign, what }) => sign === "+" && what !== "version" && what !== "code");
}
