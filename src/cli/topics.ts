/** What `creel help` knows: the verbs, the pages of the documentation in the package, the hooks and the error codes. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { CATALOG } from "../protocol/catalog.ts";
import { ERRORS } from "../protocol/errors.ts";
import type { ErrorCode } from "../protocol/errors.ts";
import { suggest } from "../text/did-you-mean.ts";
import { helpOf } from "./help.ts";
import { UsageError } from "./options.ts";
import { DOCS } from "./self.ts";
import type { Terminal } from "./ui/terminal.ts";
import type { Verb } from "./verb.ts";

export interface Topic {
  readonly topic: string;
  readonly kind: "verb" | "page" | "hook" | "error";
  readonly summary: string;
}

/** Guides first: a name that a guide and a reference page share is the guide's. */
const FOLDERS = ["guides", "reference", "first", "."];

export function topics(verbs: readonly Verb[]): Topic[] {
  return [
    ...verbs.map(({ name, summary }): Topic => ({ topic: name, kind: "verb", summary })),
    ...Array.from(pages(), ([topic, file]): Topic => ({ topic, kind: "page", summary: titleOf(readFileSync(file, "utf8")) })),
    ...Object.values(CATALOG).map(({ name, summary }): Topic => ({ topic: name, kind: "hook", summary })),
    ...(Object.keys(ERRORS) as ErrorCode[]).map((topic): Topic => ({ topic, kind: "error", summary: ERRORS[topic].message })),
  ];
}

/** A verb before a page of the same name. Throws a UsageError with the nearest topic. */
export function findTopic(topic: string, verbs: readonly Verb[], terminal: Terminal): Omit<Topic, "summary"> & { text: string } {
  const verb = verbs.find(({ name }) => name === topic);
  if (verb) return { topic, kind: "verb", text: helpOf(verb, terminal) };
  const file = pages().get(topic.replace(/\.md$/, ""));
  if (file !== undefined) return { topic, kind: "page", text: pageText(file) };
  if (Object.hasOwn(CATALOG, topic)) return { topic, kind: "hook", text: sectionOf(topic) };
  if (Object.hasOwn(ERRORS, topic)) {
    const { audience, message, fix } = ERRORS[topic as ErrorCode];
    return { topic, kind: "error", text: `${topic}: ${message}\n  For the ${audience}.\n  Fix: ${fix}` };
  }
  const known = topics(verbs).map((one) => one.topic);
  throw new UsageError(`there is no topic "${topic}"${suggest(topic, known)}`, 'run "creel help" for the list of topics');
}

/** The file of each page. */
function pages(): Map<string, string> {
  const found = new Map<string, string>();
  for (const folder of FOLDERS)
    for (const name of readdirSync(join(DOCS, folder)))
      if (name.endsWith(".md") && !found.has(basename(name, ".md"))) found.set(basename(name, ".md"), join(DOCS, folder, name));
  return found;
}

/** Without the comments that tests of the page read. */
function pageText(file: string): string {
  return readFileSync(file, "utf8")
    .replaceAll(/^<!-- .+ -->\n/gm, "")
    .trimEnd();
}

const titleOf = (text: string): string => /^# (.+)$/m.exec(text)?.[1] ?? "";

/** Of the page of hooks. */
function sectionOf(hook: string): string {
  const text = readFileSync(join(DOCS, "reference/hooks.md"), "utf8");
  const begin = text.indexOf(`### \`${hook}\``);
  const end = /^##/m.exec(text.slice(begin + 4));
  return text.slice(begin, end ? begin + 4 + end.index : undefined).trimEnd();
}
