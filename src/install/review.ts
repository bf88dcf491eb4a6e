/**
 * Trusted side: what an operator is shown before a plugin is installed, as plain data. The digest of it is what they accept: whoever names it has
 * seen exactly this. What the plugin said and tried in its rehearsal is left out of the digest: it may say something else each time, and the code that
 * does so is in it, byte for byte.
 */
import * as z from "zod";
import type { BundleScan } from "../host/bundler-message.ts";
import { SEVERITIES } from "../host/bundler-message.ts";
import { oneLine } from "../host/guest-error.ts";
import { FUNCTION_KINDS } from "../protocol/functions.ts";
import { digestOf, sorted } from "../state/lock.ts";
import type { LockEntry } from "../state/lock.ts";
import type { Ask } from "./asks.ts";
import { definitionOf } from "./asks.ts";

/** Among the files of the store: what was shown when the plugin was accepted. */
export const REVIEW = "review.json";

const RISKS = [
  "it can stop what the gateway does, and if it fails, that is stopped, too",
  "it can stop what the gateway does",
  "it can change what the gateway does",
  "it can answer instead of the gateway",
  "it can change what the gateway stores, while that waits",
  "it hears conversations",
  "it hears that something happened",
] as const;

export const reviewHook = z.object({
  hook: z.string(),
  priority: z.number(),
  /** 0 is the riskiest. */
  risk: z.int(),
  may: z.string(),
  summary: z.string(),
});
export type ReviewHook = z.infer<typeof reviewHook>;

const finding = z.object({ rule: z.string(), severity: z.enum(SEVERITIES), file: z.string(), line: z.int(), message: z.string() });
const change = z.object({ sign: z.enum(["+", "-", "="]), what: z.enum(["version", "hook", "function", "permission"]), text: z.string() });
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
      grant: z.custom<Ask["grant"]>((value) => typeof value === "object" && value !== null),
      /** It was not asked for before, or not that much of it. */
      isNew: z.boolean(),
    }),
  ),
  /** Keys that the operator granted by themselves, beyond what it ever asked for: an update keeps them. */
  kept: z.array(z.string()),
  scan: z.object({
    files: z.int(),
    origins: z.array(z.object({ origin: z.string(), file: z.string(), line: z.int() })),
    env: z.array(z.string()),
    findings: z.array(finding),
  }),
  /** What it looked for and did not get, or registered in vain. */
  remarks: z.array(z.string()),
  /** In its rehearsal. Not a part of the digest. */
  tried: z.object({ log: z.array(z.string()), refused: z.array(z.string()) }),
  /** Against what is installed; empty: nothing is. */
  changes: z.array(change),
});
export type Review = z.infer<typeof review>;
export type ReviewAsk = Review["permissions"][number];
export type Scan = Review["scan"];

export function reviewDigest(shown: Review): string {
  const { tried: _, ...seen } = shown;
  return digestOf(JSON.stringify(sorted(seen)));
}

/** The riskiest first. */
export function reviewHooks(hooks: readonly { readonly hook: string; readonly priority: number }[]): ReviewHook[] {
  return hooks
    .map(({ hook, priority }) => {
      const found = definitionOf(hook);
      const risk = riskOf(hook);
      const summary = found?.name === hook ? found.summary : `Everything that happens to a ${oneLine(hook, 64)}.`;
      return { hook, priority, risk, may: RISKS[risk]!, summary };
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

type Compared = Pick<Review, "version" | "hooks" | "functions" | "permissions" | "kept">;

/** What an update adds (+), drops (-) and keeps (=). `before` are the permissions that were granted. */
export function changesOf(now: Compared, before: LockEntry, granted: readonly string[]): Change[] {
  const versions: Change[] =
    now.version === before.version
      ? [{ sign: "=", what: "version", text: now.version ?? "none" }]
      : [
          { sign: "-", what: "version", text: before.version ?? "none" },
          { sign: "+", what: "version", text: now.version ?? "none" },
        ];
  return [
    ...versions,
    ...compared("hook", hookNames(now.hooks), hookNames(before.hooks)),
    ...compared("function", functionNames(now.functions), functionNames(before.functions)),
    ...now.permissions.map(({ key, isNew }): Change => ({ sign: isNew ? "+" : "=", what: "permission", text: key })),
    ...granted
      .filter((key) => !now.permissions.some((ask) => ask.key === key))
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

/** An update that asks for nothing new and shows nothing bad is what was accepted already. */
export function isWider({ changes, scan, permissions }: Review): boolean {
  // A candidate of the scan is not granted unless somebody names it.
  const isNews = ({ sign, what, text }: Change): boolean =>
    sign === "+" && what !== "version" && !(what === "permission" && permissions.some(({ key, from }) => key === text && from === "scan"));
  return changes.some(isNews) || severities(scan).critical > 0;
}
