/** Finds the verb of a command line and runs it. Turns errors into a sentence with a fix, and into an exit code. */
import { CreelError } from "../protocol/errors.ts";
import { fullestFolder, systemError } from "../os/system-error.ts";
import { oneLine } from "../text/one-line.ts";
import { printableJson } from "./ui/text.ts";
import { suggest } from "../text/did-you-mean.ts";
import { helpOf, helpOfAll } from "./help.ts";
import { parse, UsageError } from "./options.ts";
import { EXIT } from "./verb.ts";
import type { Verb } from "./verb.ts";
import { Interrupted } from "./ui/question.ts";
import type { Terminal } from "./ui/terminal.ts";
import { version } from "./self.ts";

export interface Terminals {
  /** The requested output. With `--json`, only data. */
  readonly out: Terminal;
  /** Everything else. */
  readonly err: Terminal;
}

export async function runCli(args: readonly string[], verbs: readonly Verb[], { out, err }: Terminals): Promise<number> {
  const [word, ...rest] = args;
  try {
    if (word === "--help" || word === "-h") out.line(helpOfAll(verbs, out));
    else if (word === "--fleet") return await runForFleet(rest, verbs, { out, err });
    else if (word === "--version" || word === "-v") out.line(version());
    else if (word === undefined) {
      err.line(helpOfAll(verbs, err));
      return EXIT.usage;
    } else return await runVerb(find(word, verbs), rest, verbs, { out, err });
    return EXIT.ok;
  } catch (error) {
    return explain(error, { out, err }, wantsJson(args));
  }
}

/** Whether the command asked for data, also one that is not understood. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return (end === -1 ? args : args.slice(0, end)).includes("--json");
}

async function runVerb(verb: Verb, args: readonly string[], verbs: readonly Verb[], { out, err }: Terminals): Promise<number> {
  const { values, positionals } = parse(verb, args);
  if (values.help === true) {
    out.line(helpOf(verb, out));
    return EXIT.ok;
  }
  return verb.run({ values, positionals, isJson: values.json === true, out, err, verbs });
}

/** `creel --fleet <verb>`: a verb that changes what is installed does so here, and then for all hosts; any other asks the hosts. */
async function runForFleet(args: readonly string[], verbs: readonly Verb[], terminals: Terminals): Promise<number> {
  const [word = "", ...rest] = args;
  if (!SHARED.has(word)) return runVerb(find("fleet", verbs), args, verbs, terminals);
  const code = await runVerb(find(word, verbs), rest, verbs, terminals);
  if (code !== EXIT.ok || rest.includes("--help")) return code;
  const { values } = parse(find(word, verbs), rest) as { values: { config?: string; "state-dir"?: string } };
  const { push } = await import("./fleet/push.ts");
  return push(values, wantsJson(rest) ? terminals.err : terminals.out);
}

/** The verbs that change the lock. */
const SHARED: ReadonlySet<string> = new Set(["install", "update", "uninstall", "enable", "disable", "permissions"]);

function find(word: string, verbs: readonly Verb[]): Verb {
  const verb = verbs.find(({ name }) => name === word);
  if (verb) return verb;
  const names = verbs.map(({ name }) => name);
  const what = word.startsWith("-") ? "an option comes after a verb" : `there is no verb "${word}"${suggest(word, names)}`;
  throw new UsageError(what, 'run "creel --help" for the list of verbs');
}

const FIX_INTERRUPTED = "run the command again and answer, or run it without a terminal: then it asks nothing";

/** Longer messages are not read. */
const MAX_CHARS = 4_000;

function explain(thrown: unknown, { out, err }: Terminals, isJson: boolean): number {
  const error = systemError(thrown, fullestFolder) ?? thrown;
  if (error instanceof Interrupted) {
    // The cursor is still on the line of the question.
    err.line();
    err.line(error.message);
    if (isJson) out.line(printableJson({ error: { code: "ERR_INTERRUPTED", message: error.message, fix: FIX_INTERRUPTED } }, 2));
    return EXIT.interrupted;
  }
  const isKnown = error instanceof UsageError || error instanceof CreelError;
  const message = error instanceof Error ? error.message : String(error);
  // SECURITY: the message may quote a third party's manifest, and terminals obey control characters.
  // test/cli/verbs/plugins/install.test.ts
  const first = oneLine(message, MAX_CHARS);
  // Made safe line by line where it was made: see code-frame.ts and manifest-problems.ts.
  const frame = error instanceof CreelError && typeof error.params.frame === "string" ? error.params.frame.split("\n") : [];
  err.line(`${err.paint("red", "creel:")} ${first}`);
  for (const line of frame) err.line(line);
  if (isJson) {
    const code = error instanceof CreelError ? error.code : error instanceof UsageError ? "ERR_USAGE" : "ERR_INTERNAL";
    const fix = isKnown ? oneLine(error.fix, MAX_CHARS) : "report it, with the stack on stderr: it is a bug in Creel";
    out.line(printableJson({ error: { code, message: [first, ...frame].join("\n"), fix } }, 2));
  }
  if (isKnown) err.line(`  ${err.paint("bold", "Fix:")} ${oneLine(error.fix, MAX_CHARS)}`);
  // Any other error is a bug in Creel, and its maintainers need the stack.
  else err.line(error instanceof Error && error.stack ? error.stack : "");
  return error instanceof UsageError ? EXIT.usage : EXIT.failed;
}
