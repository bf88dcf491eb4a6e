/** From the words on the command line to a verb, and from whatever went wrong to a sentence that says what to do and an exit code. */
import { CreelError } from "../protocol/errors.ts";
import { oneLine } from "../host/one-line.ts";
import { suggest } from "../host/suggest.ts";
import { helpOf, helpOfAll } from "./help.ts";
import { parse, UsageError } from "./options.ts";
import { EXIT } from "./verb.ts";
import type { Verb } from "./verb.ts";
import type { Terminal } from "./ui/terminal.ts";
import { version } from "./version.ts";

export interface Terminals {
  /** What was asked for. With `--json`, the data and nothing else. */
  readonly out: Terminal;
  /** Everything else. */
  readonly err: Terminal;
}

export async function runCli(args: readonly string[], verbs: readonly Verb[], { out, err }: Terminals): Promise<number> {
  const [word, ...rest] = args;
  try {
    if (word === "--help" || word === "-h") out.line(helpOfAll(verbs, out));
    else if (word === "--version" || word === "-v") out.line(version());
    else if (word === undefined) {
      err.line(helpOfAll(verbs, err));
      return EXIT.usage;
    } else return await runVerb(find(word, verbs), rest, verbs, { out, err });
    return EXIT.ok;
  } catch (error) {
    return explain(error, err);
  }
}

async function runVerb(verb: Verb, args: readonly string[], verbs: readonly Verb[], { out, err }: Terminals): Promise<number> {
  const { values, positionals } = parse(verb, args);
  if (values.help === true) {
    out.line(helpOf(verb, out));
    return EXIT.ok;
  }
  return verb.run({ values, positionals, isJson: values.json === true, out, err, verbs });
}

function find(word: string, verbs: readonly Verb[]): Verb {
  const verb = verbs.find(({ name }) => name === word);
  if (verb) return verb;
  const names = verbs.map(({ name }) => name);
  const what = word.startsWith("-") ? "an option comes after a verb" : `there is no verb "${word}"${suggest(word, names)}`;
  throw new UsageError(what, 'run "creel --help" for the verbs there are');
}

/** Nobody reads on. */
const MAX_CHARS = 4_000;

function explain(error: unknown, err: Terminal): number {
  const isKnown = error instanceof UsageError || error instanceof CreelError;
  const message = error instanceof Error ? error.message : String(error);
  // SECURITY: a stranger's manifest may be quoted in it, and a terminal obeys what it is told. test/cli/install.test.ts
  err.line(`${err.paint("red", "creel:")} ${oneLine(message, MAX_CHARS)}`);
  if (isKnown) err.line(`  ${err.paint("bold", "what to do:")} ${oneLine(error.fix, MAX_CHARS)}`);
  // Anything else is a mistake in Creel itself: the stack is what its maintainers need.
  else err.line(error instanceof Error && error.stack ? error.stack : "");
  return error instanceof UsageError ? EXIT.usage : EXIT.failed;
}
