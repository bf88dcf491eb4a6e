/**
 * A review for people: three lines to decide by, the plugin, its hooks by risk, the permissions it requests and why, the findings, and the dry
 * run.
 */
import type { Review, ReviewHook, ReviewPermission } from "../../install/review/review.ts";
import { severities } from "../../install/review/review.ts";
import { folded } from "../ui/fold.ts";
import { wrap } from "../ui/text.ts";
import { reviewSummary } from "./review-summary.ts";
import type { Style, Terminal } from "../ui/terminal.ts";

/** How differences are painted. */
export const SIGN: Readonly<Record<string, Style>> = { "+": "green", "-": "red", "=": "gray", "?": "yellow" };
const SEVERITY: Record<string, Style> = { critical: "red", warn: "yellow", info: "gray" };
const FROM: Record<ReviewPermission["from"], string> = {
  manifest: "requested",
  hooks: "needed by its hooks",
  scan: "not requested, but its code seems to need it",
};
/** Of findings that are only worth knowing. */
const MAX_INFOS = 8;

export function reviewPage(review: Review, digest: string, terminal: Terminal): void {
  const { line, paint, width } = terminal;
  const paragraph = (text: string, margin: number, style?: Style): void => {
    for (const part of wrap(text, width - margin)) line(`${" ".repeat(margin)}${style === undefined ? part : paint(style, part)}`);
  };
  const { id, name, version, description, source, bundle, fetchedBytes, dependencies, hooks, functions, permissions, scan, changes } =
    review;
  line();
  line(`${paint("bold", id)}${version === undefined ? "" : ` ${version}`}${name === id ? "" : paint("gray", `  ${name}`)}`);
  if (description !== undefined) paragraph(description, 2, "gray");
  line();
  summaryLines(review, terminal);
  line();
  line(`  from       ${source.resolved}`);
  line(`  integrity  ${source.integrity}`);
  line(`  bundle     ${kilobytes(bundle.bytes)}, ${bundle.integrity}`);
  line(
    `  fetched    ${kilobytes(fetchedBytes)}${dependencies.length === 0 ? "" : `, with ${dependencies.length} package${dependencies.length === 1 ? "" : "s"}`}`,
  );
  if (changes.length > 0) {
    line();
    line(paint("bold", "What changes"));
    for (const { sign, what, text } of changes) line(`  ${paint(SIGN[sign]!, `${sign} ${what.padEnd(10)} ${text}`)}`);
  }
  line();
  line(paint("bold", "Hooks"));
  if (hooks.length === 0) line("  none");
  for (const group of Map.groupBy(hooks, ({ risk }) => risk).values()) hookGroup(group, terminal, paragraph);
  if (functions.length > 0) {
    line();
    line(paint("bold", "Adds"));
    for (const { kind, name: called } of functions) line(`  ${kind} ${called}`);
  }
  line();
  line(paint("bold", "Permissions"));
  if (permissions.length === 0) line("  none");
  for (const { key, from, words, reason, isNew } of permissions) {
    line(`  ${paint(from === "scan" ? "gray" : "cyan", key)}: ${words}`);
    const why = reason === undefined ? (from === "manifest" ? "no reason given" : FROM[from]) : `the author's reason: ${reason}`;
    paragraph(`${why}${changes.length > 0 && isNew ? " (new)" : ""}`, 4, "gray");
  }
  findings(review, terminal, paragraph);
  line();
  line(`${paint("bold", "Digest")} ${digest}`);
  const { critical, warn } = severities(scan);
  if (critical + warn > 0)
    line(
      paint(
        critical > 0 ? "red" : "yellow",
        `${critical} critical finding${critical === 1 ? "" : "s"}, ${warn} warning${warn === 1 ? "" : "s"}`,
      ),
    );
}

/** Also shown again above the question, when the page was longer than the screen. */
export function summaryLines(review: Pick<Review, "hooks" | "permissions">, { line, paint, width }: Terminal): void {
  for (const { label, text, isRisky } of reviewSummary(review))
    for (const [at, part] of wrap(text, width - 13).entries())
      line(`  ${paint("bold", (at === 0 ? label : "").padEnd(11))}${isRisky ? paint("yellow", part) : part}`);
}

/** More hooks than this of one low risk are listed by name only. */
const MAX_HOOKS = 6;

/** The hooks of one risk. */
function hookGroup(
  group: readonly ReviewHook[],
  { line, paint }: Terminal,
  paragraph: (text: string, margin: number, style?: Style) => void,
): void {
  const { risk, may } = group[0]!;
  const style = risk <= 1 ? "yellow" : "cyan";
  line(`  ${paint("bold", may)} (${group.length})`);
  if (risk > 1 && group.length > MAX_HOOKS) {
    paragraph(group.map(({ hook }) => hook).join(", "), 4, style);
    paragraph('"creel help <hook>" describes each', 4, "gray");
    return;
  }
  for (const { hook, priority, ifItFails, summary } of group) {
    line(`    ${paint(style, hook)}${priority === 0 ? "" : paint("gray", ` (priority ${priority})`)}`);
    paragraph(summary, 6, "gray");
    if (ifItFails !== "") paragraph(`if it fails: ${ifItFails}`, 6, risk <= 1 ? "yellow" : "gray");
  }
}

function findings(
  { scan, remarks, tried }: Review,
  { line, paint }: Terminal,
  paragraph: (text: string, margin: number, style?: Style) => void,
): void {
  line();
  line(`${paint("bold", "Scan")} ${paint("gray", `of ${scan.files} file${scan.files === 1 ? "" : "s"}`)}`);
  const infos = scan.findings.filter(({ severity }) => severity === "info");
  const shown = [...scan.findings.filter(({ severity }) => severity !== "info"), ...infos.slice(0, MAX_INFOS)];
  if (shown.length === 0 && scan.origins.length === 0) line("  no findings");
  for (const { severity, file, line: at, message } of shown) {
    line(`  ${paint(SEVERITY[severity]!, severity.padEnd(8))} ${message}`);
    line(paint("gray", `           ${file}:${at}`));
  }
  if (infos.length > MAX_INFOS) line(paint("gray", `  and ${infos.length - MAX_INFOS} more (--json shows them)`));
  for (const { origin, file, line: at } of scan.origins.slice(0, MAX_INFOS)) line(`  address  ${origin} ${paint("gray", `${file}:${at}`)}`);
  if (scan.origins.length > MAX_INFOS) line(paint("gray", `  and ${scan.origins.length - MAX_INFOS} more addresses`));
  const kinds = folded(remarks);
  for (const remark of kinds.slice(0, MAX_INFOS)) paragraph(`! ${remark}`, 2, "yellow");
  if (kinds.length > MAX_INFOS) line(paint("gray", `  and ${kinds.length - MAX_INFOS} more kinds of remarks (--json shows them)`));
  if (tried.log.length + tried.refused.length === 0) return;
  line();
  line(`${paint("bold", "Tried")} ${paint("gray", "during the dry run, in a sandbox without grants")}`);
  for (const text of tried.refused) paragraph(`refused: ${text}`, 2, "yellow");
  for (const text of tried.log) paragraph(`wrote    ${text}`, 2, "gray");
}

export function kilobytes(bytes: number): string {
  return bytes >= 2 ** 20 ? `${(bytes / 2 ** 20).toFixed(1)} MB` : `${(bytes / 1024).toFixed(1)} KB`;
}

const DIFF_STYLES: Readonly<Record<string, Style>> = { "+": "green", "-": "red", "@": "cyan" };

/** The difference of a plugin's code. The lines are safe for terminals already; see code-diff.ts. */
export function codeDiffPage(lines: readonly string[], { line, paint }: Terminal): void {
  line();
  line(paint("bold", "Code"));
  if (lines.length === 0) line("  no line of it differs");
  for (const text of lines) {
    const style = DIFF_STYLES[text[0] ?? ""];
    line(`  ${style === undefined ? text : paint(style, text)}`);
  }
}
