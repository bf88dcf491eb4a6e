/** A review for people: what the plugin is, what it may do, riskiest first, what it asks for and why, what was found, what it tried. */
import type { Review, ReviewAsk } from "../../install/review.ts";
import { severities } from "../../install/review.ts";
import { wrap } from "../ui/text.ts";
import type { Style, Terminal } from "../ui/terminal.ts";
import { SIGN } from "./signs.ts";

const SEVERITY: Record<string, Style> = { critical: "red", warn: "yellow", info: "gray" };
const FROM: Record<ReviewAsk["from"], string> = {
  manifest: "asked for",
  hooks: "needed by its hooks",
  scan: "not asked for; its code looks as if it needed it",
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
  for (const { hook, priority, risk, may, summary } of hooks) {
    line(`  ${paint(risk <= 1 ? "yellow" : "cyan", hook)}${priority === 0 ? "" : paint("gray", ` (priority ${priority})`)}: ${may}`);
    paragraph(summary, 4, "gray");
  }
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
  if (critical + warn > 0) line(paint(critical > 0 ? "red" : "yellow", `${critical} critical findings, ${warn} warnings`));
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
  if (shown.length === 0 && scan.origins.length === 0) line("  nothing to remark");
  for (const { severity, file, line: at, message } of shown) {
    line(`  ${paint(SEVERITY[severity]!, severity.padEnd(8))} ${message}`);
    line(paint("gray", `           ${file}:${at}`));
  }
  if (infos.length > MAX_INFOS) line(paint("gray", `  and ${infos.length - MAX_INFOS} more of little weight (--json shows them)`));
  for (const { origin, file, line: at } of scan.origins.slice(0, MAX_INFOS)) line(`  address  ${origin} ${paint("gray", `${file}:${at}`)}`);
  if (scan.origins.length > MAX_INFOS) line(paint("gray", `  and ${scan.origins.length - MAX_INFOS} more addresses`));
  for (const remark of remarks.slice(0, MAX_INFOS)) paragraph(`! ${remark}`, 2, "yellow");
  if (remarks.length > MAX_INFOS) line(paint("gray", `  and ${remarks.length - MAX_INFOS} more remarks (--json shows them)`));
  if (tried.log.length + tried.refused.length === 0) return;
  line();
  line(`${paint("bold", "Tried")} ${paint("gray", "while it registered, in a sandbox without grants")}`);
  for (const text of tried.refused) paragraph(`refused: ${text}`, 2, "yellow");
  for (const text of tried.log) paragraph(`wrote    ${text}`, 2, "gray");
}

export function kilobytes(bytes: number): string {
  return bytes >= 2 ** 20 ? `${(bytes / 2 ** 20).toFixed(1)} MB` : `${(bytes / 1024).toFixed(1)} KB`;
}
