/** The rules that every attack must leave whole, and the sentence for each that it broke. */
import { median } from "../../src/cli/bench/statistics.ts";
import type { Attempt, Trial } from "./trial.ts";
import { CONTROL } from "./corpus.ts";
import type { Expectation } from "./corpus.ts";

/** What a call may take beyond its wall budget: noticing and answering; and where the process had to be replaced. */
export const GRACE_MS = 250;
export const REPLACED_GRACE_MS = 2_000;

/** Neighbours' p99 with the attack in place, of their p99 in quiet. */
export const MAX_SLOWDOWN = 3;
/** The gateway's loop: at a time, and of all the time. Where the control process stood still in the same time, that is the machine's doing, and twice as much is allowed. */
export const MAX_STALL_MS = 50;
export const MAX_STALL_SHARE = 0.05;

/** A machine that keeps the control process waiting keeps a gateway waiting longer: that has more to do. On a quiet machine it keeps neither. */
const MACHINE_FACTOR = 2;
/** A share of less time than this says nothing that the longest stall does not say. */
const SHARE_MS = 5_000;

/** A synchronous run may find its lane in one turn of an attack, which may take its CPU budget, until the attack is moved. */
const TURN_MS = 100;
/**
 * Or in the one turn for which it is stopped for good. V8 ends a turn after 250 ms on a quiet machine, but first collects
 * garbage, again and again, if the heap is full.
 */
const LAST_TURN_MS = 500;

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
  return [...certain(trial), ...timing(trial)];
}

/** Only rules of time were broken: another process on the machine may have done that, so it is tried again. */
export function isOnlyLate(trial: Trial): boolean {
  return certain(trial).length === 0 && timing(trial).length > 0;
}

function certain(trial: Trial): string[] {
  return [
    ...settling(trial),
    ...naming(trial),
    ...benign(trial),
    ...driving(trial),
    ...expecting(trial),
    ...escaping(trial),
    ...control(trial),
  ];
}

export interface FeltStalls {
  readonly slowdown: number;
  /** Synchronous runs, from when the host has had the time to notice on; and before. */
  readonly syncMs: number;
  readonly noticeSyncMs: number;
  readonly longestMs: number;
  readonly share: number;
  /** What is allowed: of a stall, and of a synchronous run. */
  readonly mostStallMs: number;
  readonly mostMs: number;
  readonly mostShare: number;
}

/**
 * The median of the attempts counts, whichever of them it is: no best of several. With room for the clocks a stall counts without the time in
 * which the gateway's thread only waited for a CPU: others have them. What the machine did to the control process counts in the same way.
 */
export function feltOf({ attempts, clockRoom }: Trial): FeltStalls {
  const isCrowded = clockRoom > 1;
  const felt = attempts.flatMap(({ stay }) => stay.felt ?? []);
  const of = (pick: (attempt: Attempt) => number): number => median(attempts.map(pick));
  const atMost = (pick: (attempt: Attempt) => number): number => Math.max(MAX_STALL_MS * clockRoom, of(pick) * MACHINE_FACTOR);
  return {
    slowdown: felt.length === 0 ? 0 : median(felt.map(({ p99Ms, quietP99Ms }) => p99Ms / quietP99Ms)),
    syncMs: felt.length === 0 ? 0 : median(felt.map(({ syncMs }) => syncMs)),
    noticeSyncMs: felt.length === 0 ? 0 : median(felt.map(({ noticeSyncMs }) => noticeSyncMs)),
    longestMs: of(({ stalls }) => (isCrowded ? stalls.ownLongestMs : stalls.longestMs)),
    share: of(({ stalls, lookedMs }) => (isCrowded ? stalls.ownTotalMs : stalls.totalMs) / lookedMs),
    mostStallMs: atMost(({ machine }) => (isCrowded ? machine.ownLongestMs : machine.longestMs)),
    mostMs: atMost(({ machine }) => machine.longestMs),
    mostShare: of(({ machine, lookedMs }) =>
      lookedMs < SHARE_MS
        ? 1
        : MAX_STALL_SHARE * clockRoom + ((isCrowded ? machine.ownTotalMs : machine.totalMs) * MACHINE_FACTOR) / lookedMs,
    ),
  };
}

function timing(trial: Trial): string[] {
  const { slowdown, syncMs, noticeSyncMs, longestMs, mostStallMs, mostMs, share, mostShare } = feltOf(trial);
  const mostNoticeMs = mostMs + (trial.isStopped ? LAST_TURN_MS : TURN_MS) * trial.clockRoom;
  const times = trial.attempts.length > 1 ? `, the median of ${trial.attempts.length}` : "";
  return [
    ...(slowdown > MAX_SLOWDOWN * trial.clockRoom ? [`neighbours' p99 was ${slowdown.toFixed(1)} times the quiet one${times}`] : []),
    ...(longestMs > mostStallMs
      ? [`the gateway stood still for ${Math.round(longestMs)} ms at a time, of ${Math.round(mostStallMs)}${times}`]
      : []),
    ...(syncMs > mostMs
      ? [`a synchronous run kept the gateway waiting for ${Math.round(syncMs)} ms, of ${Math.round(mostMs)}${times}`]
      : []),
    ...(noticeSyncMs > mostNoticeMs
      ? [`a synchronous run kept the gateway waiting for ${Math.round(noticeSyncMs)} ms at first, of ${Math.round(mostNoticeMs)}${times}`]
      : []),
    ...(share > mostShare
      ? [`the gateway stood still ${(share * 100).toFixed(0)} % of the time, of ${(mostShare * 100).toFixed(0)} %${times}`]
      : []),
  ];
}

/** Synchronous runs, one every 50 ms, that a replacement of the sandbox process may leave to the failure policy of their hook: half a second. */
const UNSERVED_PER_RESTART = 10;

function driving({ drives: { passed, failed, unserved, examples }, restarts, clockRoom }: Trial): string[] {
  return [
    ...(unserved > restarts.length * UNSERVED_PER_RESTART * clockRoom
      ? [`${unserved} synchronous calls were not served while the sandbox process was replaced ${restarts.length} times`]
      : []),
    ...(passed > 0 ? [`${passed} calls were let through that should have been stopped: ${examples[0]}`] : []),
    ...(failed > 0 ? [`${failed} calls of an innocent plugin failed beside it: ${examples[0]}`] : []),
  ];
}

const MET: Readonly<Record<Expectation, (trial: Trial) => boolean>> = {
  named: ({ named, calls }) => named.length > 0 || calls.some((call) => call.named.length > 0),
  moved: ({ isMoved }) => isMoved,
  stopped: ({ isStopped }) => isStopped,
  harmless: () => true,
};
const MISSING: Readonly<Record<Expectation, string>> = {
  named: "the host never said who it was",
  moved: "it was neither moved to the slow lane nor stopped",
  stopped: "it was not stopped",
  harmless: "",
};

/** Has the host done what the attack's file expects of it? */
export const isAsExpected = (trial: Trial): boolean => trial.expect.every((one) => MET[one](trial));

/** Nothing is expected of a host that had no time to notice. */
function expecting(trial: Trial): string[] {
  if (!trial.attempts.some(({ stay }) => stay.isFull)) return [];
  return trial.expect.filter((one) => !MET[one](trial)).map((one) => MISSING[one]);
}

function settling({ calls, restarts, clockRoom }: Trial): string[] {
  const grace = (restarts.length > 0 ? REPLACED_GRACE_MS : GRACE_MS) * clockRoom;
  return calls.flatMap(({ phase, status, tookMs, budgetMs }) => {
    if (status === "hung") return [`the ${phase} never settled`];
    if (status === "gone") return [`the outcome of the ${phase} does not mention the plugin`];
    return tookMs > budgetMs + grace ? [`the ${phase} settled after ${Math.round(tookMs)} ms, of ${budgetMs} + ${grace}`] : [];
  });
}

function naming({ id, calls, restarts, innocents }: Trial): string[] {
  const isOurs = (other: string | undefined): boolean => other === id || (other?.startsWith(`${id}-copy-`) ?? false);
  const unnamed = calls.filter(({ status, plugin, named }) => status !== "ok" && status !== "hung" && !named.includes(plugin));
  const misnamed = calls.flatMap(({ named }) => named.filter((other) => !isOurs(other)));
  return [
    ...unnamed.map(({ phase, status }) => `the ${phase} came to ${status} and nobody was named`),
    ...misnamed.map((other) => `${other} was named`),
    ...restarts.filter(({ culprit }) => !isOurs(culprit)).map(({ why, culprit }) => `a restart that names ${culprit ?? "nobody"}: ${why}`),
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
