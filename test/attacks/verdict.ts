/** The rules that every attack must leave whole, and the sentence for each that it broke. */
import type { Trial } from "./trial.ts";
import { CONTROL } from "./corpus.ts";

/** What a call may take beyond its wall budget: noticing and answering; and where the process had to be replaced. */
export const GRACE_MS = 250;
export const REPLACED_GRACE_MS = 2_000;

/** The escapes that tell what they found: what they may have found. */
const ALLOWED_LOOT: Readonly<Record<string, (loot: string) => boolean>> = {
  // Four ways to a `process`: each ends in an error or in "undefined".
  "esc-01-constructor-chain": (loot) => (JSON.parse(loot) as string[]).every((found) => /^(?:undefined)+$|^E:/.test(found)),
  // The host's error, its stack, and what its constructor's constructor sees.
  "err-10-preparestacktrace-hosterror": (loot) => /(?:undefined){3}$/.test(JSON.parse(loot) as string),
  // The bootstrap's own functions: they are in the plugin's isolate, and still none of its business.
  "esc-16-caller": (loot) => !/eventText|handlers|settle/.test(loot),
};

/** Traces of our side: files, the runtime's own modules, the process object. */
const OUR_SIDE = /file:\/\/|node:internal|\[object process\]|\/src\/(?:host|sandbox|sdk)\//;

export function broken(trial: Trial): string[] {
  return [...settling(trial), ...naming(trial), ...benign(trial), ...escaping(trial), ...control(trial)];
}

function settling({ calls, restarts }: Trial): string[] {
  const grace = restarts.length > 0 ? REPLACED_GRACE_MS : GRACE_MS;
  return calls.flatMap(({ phase, status, tookMs, budgetMs }) => {
    if (status === "hung") return [`the ${phase} never settled`];
    if (status === "gone") return [`the outcome of the ${phase} does not mention the plugin`];
    return tookMs > budgetMs + grace ? [`the ${phase} settled after ${Math.round(tookMs)} ms, of ${budgetMs} + ${grace}`] : [];
  });
}

function naming({ id, calls, restarts, innocents }: Trial): string[] {
  const unnamed = calls.filter(({ status, named }) => status !== "ok" && status !== "hung" && !named.includes(id));
  const misnamed = calls.flatMap(({ named }) => named.filter((other) => other !== id));
  return [
    ...unnamed.map(({ phase, status }) => `the ${phase} came to ${status} and nobody was named`),
    ...misnamed.map((other) => `${other} was named`),
    ...restarts.filter(({ culprit }) => culprit !== id).map(({ why, culprit }) => `a restart that names ${culprit ?? "nobody"}: ${why}`),
    ...innocents.map((other) => `${other} was blamed`),
  ];
}

function benign({ benign: { wrong, blocked, lost, examples } }: Trial): string[] {
  return [
    ...(lost > 0 ? [`${lost} benign calls lost`] : []),
    ...(wrong > 0 ? [`${wrong} benign calls answered wrongly, ${blocked} of them blocked: ${examples[0]}`] : []),
  ];
}

function escaping({ attack, calls, loot, leaks }: Trial): string[] {
  const isAllowed = ALLOWED_LOOT[attack] ?? (() => true);
  return [
    ...leaks.map((where) => `the secret is in ${where}`),
    ...loot.filter((found) => OUR_SIDE.test(found) || !isAllowed(found)).map((found) => `it found ${found}`),
    ...calls
      .filter(({ decision, status }) => decision === "pass" && status !== "ok")
      .map(() => "it failed and the tool call was let through"),
  ];
}

function control({ attack, calls }: Trial): string[] {
  return attack === CONTROL ? calls.filter(({ status }) => status !== "ok").map(({ status }) => `the control came to ${status}`) : [];
}
