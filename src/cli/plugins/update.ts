/**
 * Updates plugins one after the other; a failure of one does not affect the next. SECURITY: no changed code without
 * consent. test/cli/verbs/plugins/update.test.ts
 */
import { install, restoreInstalled, usualPermissionKeys } from "../../install/install.ts";
import type { Decision, InstallOptions } from "../../install/install.ts";
import type { Seen } from "../../install/review/examine.ts";
import type { ReplayReport } from "../../replay/replay.ts";
import type { Review } from "../../install/review/review.ts";
import { CreelError } from "../../protocol/errors.ts";
import { noteAcceptance } from "../../state/acceptance-log.ts";
import { unknownPlugin } from "../../state/lock-file.ts";
import type { LockEntry } from "../../state/lock.ts";
import { paged } from "../ui/pager.ts";
import type { Terminal } from "../ui/terminal.ts";
import { decide } from "./consent.ts";
import type { Consent } from "./consent.ts";
import { replayUpdate } from "./update-replay.ts";
import { codeDiffPage, reviewPage, summaryLines } from "./review-page.ts";
import type { Project } from "./project.ts";
import { progress } from "./progress.ts";
import { tellRunning } from "./running-hosts.ts";
import type { RunningHost } from "./running-hosts.ts";
import { currentUser } from "./project.ts";

export interface Updated {
  readonly id: string;
  /**
   * `available`: there is an update, and --dry-run did not install it. `restored`: same version, changed files were
   * restored.
   */
  readonly outcome: "installed" | "refused" | "unchanged" | "restored" | "available" | "failed";
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly digest: string | undefined;
  /** How the update was accepted. */
  readonly acceptedBy: "person" | "digest" | "policy" | undefined;
  /** Why the operator's policy did not. */
  readonly policyAgainst: readonly string[] | undefined;
  readonly review: Review | undefined;
  readonly error: string | undefined;
  readonly fix: string | undefined;
  /** With --diff: the difference of the code, line by line. */
  readonly diff?: readonly string[];
  /** With --replay: what the new version decides otherwise about recorded runs. */
  readonly replay?: ReplayReport;
  /** The reactions of running hosts. */
  readonly running?: readonly RunningHost[];
}

export interface UpdateOptions {
  readonly consent: Consent;
  readonly terminal: Terminal;
  readonly isJson: boolean;
  readonly isDry: boolean;
  readonly hasDiff: boolean;
  /** Replay recorded runs through the new version? */
  readonly hasReplay: boolean;
  /** Called after each changed plugin, since the person may interrupt at the next one. */
  readonly changed: (id: string) => void;
}

export async function updateAll(project: Project, id: string | undefined, options: UpdateOptions): Promise<Updated[]> {
  const entries = await project.state.read();
  if (id !== undefined && !entries.has(id)) throw unknownPlugin(id, entries);
  const results: Updated[] = [];
  for (const entry of entries.values()) if (id === undefined || entry.id === id) results.push(await one(project, entry, options));
  return results;
}

const NOTHING = { acceptedBy: undefined, policyAgainst: undefined, review: undefined, error: undefined, fix: undefined };

async function one(project: Project, before: LockEntry, options: UpdateOptions): Promise<Updated> {
  const { id, version: from } = before;
  const { state, config, configFile, base } = project;
  const { terminal, isDry, changed } = options;
  const { line, paint } = terminal;
  line(paint("bold", id));
  const more = { state, config, configFile, base, by: currentUser(), progress: progress(terminal) };
  try {
    const { fault } = await state.examine(before);
    if (fault) line(paint("yellow", `! ${fault.message}`));
    const isRestored = fault !== undefined && !isDry && (await isPutBack(before, more, terminal));
    if (isRestored) changed(id);
    const found = await offered(project, isRestored ? (await state.read()).get(id)! : before, more, options);
    const outcome = isRestored && found.outcome === "unchanged" ? "restored" : found.outcome;
    const wasChanged = outcome === "installed" || outcome === "restored";
    if (wasChanged) changed(id);
    if (outcome === "installed") line(`${paint("green", "✓")} ${id}: ${from ?? "?"} → ${found.to ?? "?"}`);
    if (outcome === "restored") line(`${paint("green", "✓")} ${id}: its files were restored; its permissions are unchanged`);
    if (outcome === "unchanged") line(`${paint("green", "✓")} ${id} is up to date`);
    const running = wasChanged || isRestored ? await tellRunning(state.dir, id) : undefined;
    running?.say(terminal);
    return { ...found, outcome, ...(running && { running: running.rows }) };
  } catch (error) {
    if (!(error instanceof CreelError)) throw error;
    return { ...NOTHING, id, outcome: "failed", from, to: undefined, digest: undefined, error: error.message, fix: error.fix };
  }
}

type More = Pick<InstallOptions, "state" | "config" | "configFile" | "base" | "by" | "progress">;

/**
 * Installs the same version again. False: its source has changed or is gone; the caller then reviews it as an update.
 */
async function isPutBack(before: LockEntry, more: More, { line, paint }: Terminal): Promise<boolean> {
  try {
    if (await restoreInstalled(before, more)) return true;
    line(paint("yellow", `! it cannot be restored: ${before.source.resolved} has changed`));
  } catch (error) {
    if (!(error instanceof CreelError)) throw error;
    line(paint("yellow", `! it cannot be restored: ${error.message}`));
  }
  return false;
}

/** Installs what the source has now, if it is accepted. */
async function offered(project: Project, before: LockEntry, more: More, options: UpdateOptions): Promise<Updated> {
  const { id, version: from } = before;
  const { consent, terminal, isJson, isDry, hasDiff, hasReplay } = options;
  let seen: Seen | undefined;
  let replayed: ReplayReport | undefined;
  let acceptedBy: Updated["acceptedBy"];
  const { outcome, review, digest } = await install(before.source.spec, {
    ...more,
    expected: id,
    by: more.by,
    decide: async (found, foundDigest, given): Promise<Decision> => {
      seen = given;
      if (!isJson) {
        const isLong = paged(terminal, (page) => {
          reviewPage(found, foundDigest, page);
          if (hasDiff) codeDiffPage(given.diff(), page);
        });
        if (isLong) summaryLines(found, terminal);
      }
      policyLine(given, project, terminal);
      replayed = await replayUpdate(project, { id, bundle: given.bundle, isWanted: hasReplay, terminal });
      if (isDry) return { isAccepted: false };
      // An operator who names permission keys decides, instead of the policy.
      const hasSaid = consent.grant.length + consent.noGrant.length > 0;
      if (given.policy.isAccepted && !hasSaid) {
        acceptedBy = "policy";
        return { isAccepted: true, keys: usualPermissionKeys(found, before), by: `policy (${given.policy.why}), run by ${more.by}` };
      }
      const decision = await decide(found, foundDigest, before, consent, terminal);
      if (decision.isAccepted) acceptedBy = consent.accept.includes(foundDigest) ? "digest" : "person";
      return decision;
    },
  });
  if (outcome === "installed" && acceptedBy === "policy" && seen)
    await noteAcceptance(project.state.dir, project.config.audit, { plugin: id, from, to: review.version, digest, why: seen.policy.why });
  return {
    ...NOTHING,
    id,
    outcome: outcome === "refused" && isDry ? "available" : outcome,
    from,
    to: review.version,
    digest,
    acceptedBy: outcome === "installed" ? acceptedBy : undefined,
    policyAgainst: seen?.policy.against,
    review,
    ...(hasDiff && { diff: seen?.diff() ?? [] }),
    ...(replayed && { replay: replayed }),
  };
}

/** Explains the decision of the policy. */
function policyLine({ policy }: Seen, { config }: Project, { line, paint }: Terminal): void {
  if ((config.update?.auto ?? "never") === "never") return;
  if (policy.isAccepted) line(paint("green", `Accepted by the update policy: ${policy.why}`));
  else line(paint("yellow", `You must decide: ${policy.against.join("; ")}`));
}
