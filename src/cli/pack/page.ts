/** What `creel pack` wrote, for people: the archive, what is in it, and what an operator will be asked. */
import { reviewHooks } from "../../install/review/review.ts";
import type { Findings } from "../check/examine.ts";
import { unrequestedLines } from "../check/page.ts";
import { kilobytes, summaryLines } from "../plugins/review-page.ts";
import { commandLine, next, quoted } from "../self.ts";
import type { Terminal } from "../ui/terminal.ts";
import { oneLine } from "../../text/one-line.ts";
import type { WrittenPack } from "./pack.ts";

const MAX_OWN = 12;

export function page({ id, version, file, bytes, integrity, files, own }: WrittenPack, findings: Findings, terminal: Terminal): void {
  const { line, paint } = terminal;
  const { hooks, permissions, unrequested } = findings;
  line(`${paint("green", "✓")} ${paint("bold", id)} ${version} is packed in ${file} (${kilobytes(bytes)})`);
  for (const { name, bytes: size } of files) line(paint("gray", `    ${name.padEnd(20)} ${kilobytes(size)}`));
  line(paint("gray", `  ${integrity}`));
  if (own.length > 0) {
    const more = own.length > MAX_OWN ? ` and ${own.length - MAX_OWN} more` : "";
    line(
      `  carries files that it can read: ${own
        .slice(0, MAX_OWN)
        .map((name) => oneLine(name, 80))
        .join(", ")}${more}`,
    );
    line(paint("gray", '    "files" in package.json chooses them'));
  }
  line();
  line(paint("bold", "An operator will be asked"));
  const shown = permissions.map((permission) => ({ ...permission, isNew: true }));
  summaryLines({ hooks: reviewHooks(hooks), permissions: shown }, terminal);
  for (const { key, words, reason } of permissions)
    line(`  ${paint("cyan", key)}: ${words}${reason === undefined ? "" : paint("gray", ` (${oneLine(reason, 200)})`)}`);
  unrequestedLines(unrequested, terminal);
  line();
  const path = /^[./]/.test(file) ? file : `./${file}`;
  next(terminal, commandLine(["install", path]));
  next(terminal, `npm publish ${quoted(path)}`);
}
