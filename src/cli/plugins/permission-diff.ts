/** `creel permissions diff`: what a plugin may do against what it asks for, or against what another version or source of it would ask for. */
import { install, withoutVersion } from "../../install/install.ts";
import type { InstallStep } from "../../install/install.ts";
import { isCovered } from "../../install/keys.ts";
import type { Change, Review } from "../../install/review.ts";
import type { LockEntry } from "../../state/lock.ts";
import { UsageError } from "../options.ts";
import type { Terminal } from "../ui/terminal.ts";
import { lookUp } from "./look-up.ts";
import type { Place } from "./place.ts";
import { SIGN } from "./signs.ts";
import { who } from "./who.ts";

export interface PermissionDiff {
  readonly id: string;
  /** What it is compared with; null: its own manifest. */
  readonly source: string | null;
  readonly from: string | null;
  readonly to: string | null;
  /** `-` it has and that does not ask for, `+` that asks for and it has not, `=` both. */
  readonly changes: readonly Change[];
}

export async function permissionDiff(
  place: Place,
  id: string,
  other: string | undefined,
  progress: (step: InstallStep) => void,
): Promise<PermissionDiff> {
  const { entry, permissions, review } = await lookUp(place, id);
  const from = entry.version ?? null;
  if (other === undefined) return { id, source: null, from, to: from, changes: compared(entry, permissions, review) };
  const { state, config, base } = place;
  // Everything is looked at as for an update, and nobody says yes.
  const { review: found } = await install(specOf(entry.source.spec, other), {
    state,
    config,
    base,
    by: who(),
    expected: id,
    progress,
    decide: async () => ({ isAccepted: false }),
  });
  // An update compares with what was asked for before, also if that was refused; here it is what the plugin may do.
  const others = found.changes.filter(({ what }) => what !== "permission");
  return {
    id,
    source: found.source.resolved,
    from,
    to: found.version ?? null,
    changes: [...others, ...compared(entry, permissions, found)],
  };
}

function compared(entry: LockEntry, permissions: readonly string[], review: Review | undefined): Change[] {
  // What only its code looks like was never asked for.
  const asks = (review?.permissions ?? []).filter(({ from }) => from !== "scan");
  return [
    ...permissions.map((key) => row(asks.some((ask) => ask.key === key) ? "=" : "-", key)),
    ...asks.filter(({ key }) => !permissions.includes(key)).map(({ key, grant }) => row(isCovered(grant, entry) ? "=" : "+", key)),
  ];
}

function row(sign: Change["sign"], text: string): Change {
  return { sign, what: "permission", text };
}

const VERSION = /^(?:v?\d[\w.+-]*|[~^<>=*][^/]*|latest|next|beta|alpha|rc|canary)$/;

/** A version of what it was installed from, or a source of its own. */
export function specOf(installed: string, other: string): string {
  if (!VERSION.test(other)) return other;
  if (installed.startsWith("file:"))
    throw new UsageError(
      `"${other}" is a version, and the plugin was installed from ${installed}`,
      "name a folder, an archive or a package",
    );
  return `${withoutVersion(installed)}${installed.startsWith("git:") ? "#" : "@"}${other}`;
}

export function diffPage({ id, source, from, to, changes }: PermissionDiff, { line, paint }: Terminal): void {
  const against =
    source === null
      ? "what it may do, against what its manifest asks for"
      : `${from ?? "?"}, as it may now, against ${to ?? "?"} from ${source}`;
  line(`${paint("bold", id)}  ${paint("gray", against)}`);
  if (changes.length === 0) line("  it may do nothing beyond its hooks, and asks for nothing");
  for (const { sign, what, text } of changes) line(`  ${paint(SIGN[sign]!, `${sign} ${what.padEnd(10)} ${text}`)}`);
}
