/**
 * `creel permissions diff`: what a plugin was granted, compared with what it requests, or with what another version or
 * source requests.
 */
import { install } from "../../install/install.ts";
import { withoutVersion } from "../../install/review/examine.ts";
import type { InstallStep } from "../../install/install.ts";
import { isCovered } from "../../install/review/permission-keys.ts";
import type { Change, Review } from "../../install/review/review.ts";
import type { LockEntry } from "../../state/lock.ts";
import { UsageError } from "../options.ts";
import type { Terminal } from "../ui/terminal.ts";
import { findInstalled } from "./installed-plugin.ts";
import type { Project } from "./project.ts";
import { SIGN } from "./review-page.ts";
import { currentUser } from "./project.ts";

export interface PermissionDiff {
  readonly id: string;
  /** The source it is compared with; null: its own manifest. */
  readonly source: string | null;
  readonly from: string | null;
  readonly to: string | null;
  /** `-` it has and that does not ask for, `+` that asks for and it has not, `=` both. */
  readonly changes: readonly Change[];
}

export async function permissionDiff(
  project: Project,
  id: string,
  other: string | undefined,
  progress: (step: InstallStep) => void,
): Promise<PermissionDiff> {
  const { entry, permissions, review } = await findInstalled(project, id);
  const from = entry.version ?? null;
  if (other === undefined) return { id, source: null, from, to: from, changes: compared(entry, permissions, review) };
  const { state, config, configFile, base } = project;
  // Examines the source as for an update, and declines.
  const { review: found } = await install(specOf(entry.source.spec, other), {
    state,
    config,
    configFile,
    base,
    by: currentUser(),
    expected: id,
    progress,
    decide: async () => ({ isAccepted: false }),
  });
  // An update compares with earlier requests, even refused ones; this compares with what was granted.
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
  // Candidates of the scan were never requested.
  const requested = (review?.permissions ?? []).filter(({ from }) => from !== "scan");
  return [
    ...permissions.map((key) => row(requested.some((permission) => permission.key === key) ? "=" : "-", key)),
    ...requested.filter(({ key }) => !permissions.includes(key)).map(({ key, grant }) => row(isCovered(grant, entry) ? "=" : "+", key)),
  ];
}

function row(sign: Change["sign"], text: string): Change {
  return { sign, what: "permission", text };
}

const VERSION = /^(?:v?\d[\w.+-]*|[~^<>=*][^/]*|latest|next|beta|alpha|rc|canary)$/;

/** A version of the same source, or another source. */
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
      ? "its permissions, compared with what its manifest requests"
      : `${from ?? "?"} (installed), compared with ${to ?? "?"} from ${source}`;
  line(`${paint("bold", id)}  ${paint("gray", against)}`);
  if (changes.length === 0) line("  it has no permissions beyond its hooks, and requests none");
  for (const { sign, what, text } of changes) line(`  ${paint(SIGN[sign]!, `${sign} ${what.padEnd(10)} ${text}`)}`);
}
