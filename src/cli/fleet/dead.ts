/** `creel fleet dead`: durable events that the hosts of a fleet have given up, in the log that they share. */
import type { Operator } from "../../fleet/control/operator.ts";
import type { DeadEvent } from "../../fleet/events/operator-events.ts";
import type { DeadLetter } from "../dead/dead-letters.ts";
import { deadPage, letterPage } from "../dead/page.ts";
import { UsageError } from "../options.ts";
import type { Terminal } from "../ui/terminal.ts";
import { printableJson } from "../ui/text.ts";
import { EXIT } from "../verb.ts";

const ACTIONS = ["list", "show", "replay", "drop"] as const;
const FIX = 'such as "creel --fleet dead list" or "creel --fleet dead replay --plugin temporal-signal"';

interface DeadValues {
  readonly plugin?: readonly string[] | undefined;
  readonly all?: boolean | undefined;
}

export interface DeadOptions {
  readonly operator: Operator;
  /** Of the operator, as a member. */
  readonly name: string;
  readonly words: readonly string[];
  readonly values: DeadValues;
  readonly isJson: boolean;
  readonly out: Terminal;
}

/** Throws when there is none of that id. */
export async function dead({ operator, name, words, values, isJson, out }: DeadOptions): Promise<number> {
  const [word = "list", id, extra] = words;
  const action = ACTIONS.find((one) => one === word);
  if (action === undefined || extra !== undefined) throw new UsageError(`fleet dead takes ${ACTIONS.join(", ")}, and an id`, FIX);
  if (action === "show" && id === undefined) throw new UsageError("fleet dead show takes an id", FIX);
  const isChange = action === "replay" || action === "drop";
  if (isChange && id === undefined && values.plugin === undefined && values.all !== true)
    throw new UsageError(`fleet dead ${action} takes an id, --plugin or --all`, FIX);
  const all = await operator.events.dead(id, undefined);
  const found = values.plugin === undefined ? all : all.filter(({ plugin }) => values.plugin!.includes(plugin));
  if (isChange) {
    const count = await (action === "replay" ? operator.events.replay(found, name) : operator.events.drop(found));
    if (isJson) out.line(JSON.stringify({ [action === "replay" ? "replayed" : "dropped"]: count }));
    else out.line(action === "replay" ? `${count} will be delivered again by a host` : `${count} dropped`);
    return EXIT.ok;
  }
  const letters = found.map(letterOf);
  if (action === "show") {
    if (isJson) out.line(printableJson(letters, 2));
    else for (const letter of letters) letterPage(letter, out);
  } else if (isJson)
    out.line(
      printableJson(
        letters.map((letter) => ({ ...letter, event: undefined, context: undefined })),
        2,
      ),
    );
  else if (letters.length === 0) out.line("no event was given up");
  else deadPage(letters, out);
  return EXIT.ok;
}

/** Another host's words: also what it gave up because it could not be read. */
function letterOf(given: DeadEvent): DeadLetter & { readonly host: string } {
  const { number, id, plugin, hook, session, attempts, made, at, status, why, event, context, host } = given;
  return {
    seq: number,
    host,
    id,
    plugin,
    hook,
    session,
    attempts,
    madeAt: dateOf(made),
    diedAt: dateOf(at),
    status,
    why,
    event: readable(event),
    context: readable(context),
  };
}

function dateOf(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString();
}

function readable(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
