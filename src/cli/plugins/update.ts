/** Updates, one after the other: what goes wrong with one says nothing about the next. */
import { install } from "../../install/install.ts";
import { isWider } from "../../install/review.ts";
import type { Review } from "../../install/review.ts";
import { usualKeys } from "../../install/install.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { LockEntry } from "../../state/lock.ts";
import type { Terminal } from "../ui/terminal.ts";
import { decide } from "./consent.ts";
import type { Consent } from "./consent.ts";
import type { Place } from "./place.ts";
import { progress } from "./progress.ts";
import { reviewPage } from "./review-page.ts";
import { tellRunning } from "./running.ts";
import type { RunningHost } from "./running.ts";
import { who } from "./who.ts";

export interface Updated {
  readonly id: string;
  readonly outcome: "installed" | "refused" | "unchanged" | "failed";
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly digest: string | undefined;
  readonly review: Review | undefined;
  readonly error: string | undefined;
  readonly fix: string | undefined;
  /** What running hosts made of it, if there are any. */
  readonly running?: readonly RunningHost[];
}

export async function updateAll(
  place: Place,
  wanted: string | undefined,
  consent: Consent,
  terminal: Terminal,
  isJson: boolean,
): Promise<Updated[]> {
  const entries = await place.state.read();
  if (wanted !== undefined && !entries.has(wanted)) throw new CreelError("ERR_STATE_UNKNOWN", { plugin: wanted });
  const results: Updated[] = [];
  for (const entry of entries.values())
    if (wanted === undefined || entry.id === wanted) results.push(await one(place, entry, consent, terminal, isJson));
  return results;
}

async function one(
  { state, config, base }: Place,
  before: LockEntry,
  consent: Consent,
  terminal: Terminal,
  isJson: boolean,
): Promise<Updated> {
  const { id, version: from } = before;
  const { line, paint } = terminal;
  line(paint("bold", id));
  try {
    const { outcome, review, digest } = await install(before.source.spec, {
      state,
      config,
      base,
      by: who(),
      expected: id,
      progress: progress(terminal),
      decide: async (found, foundDigest) => {
        const isMore = isWider(found);
        if (!isJson) reviewPage(found, foundDigest, terminal);
        // What was accepted was accepted; there is nothing to ask.
        const hasSaid = consent.grant.length + consent.noGrant.length > 0;
        return isMore || hasSaid
          ? decide(found, foundDigest, before, consent, terminal)
          : { isAccepted: true, keys: usualKeys(found, before) };
      },
    });
    if (outcome === "installed") line(`${paint("green", "✓")} ${id}: ${from ?? "?"} → ${review.version ?? "?"}`);
    if (outcome === "unchanged") line(`${paint("green", "✓")} ${id} is up to date`);
    const running = outcome === "installed" ? await tellRunning(state.dir, id) : undefined;
    running?.say(terminal);
    const told = running && { running: running.rows };
    return { id, outcome, from, to: review.version, digest, review, error: undefined, fix: undefined, ...told };
  } catch (error) {
    if (!(error instanceof CreelError)) throw error;
    return { id, outcome: "failed", from, to: undefined, digest: undefined, review: undefined, error: error.message, fix: error.fix };
  }
}
