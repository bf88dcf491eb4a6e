/**
 * A turn-hook script: at most so many turns per session and window. It is no plugin with a manifest but a file of the `hooks.agent`
 * section, whose default export gets the turn's context; its state lasts as long as its cell does.
 */
import type { HookAnswer, HookEvent } from "creel/plugin";

const MAX_TURNS = 5;
const WINDOW_MS = 60_000;
/** Sessions whose turns are remembered; the one that was quiet for longest is forgotten first. */
const MAX_SESSIONS = 5_000;

/** When the turns of a session began that the window still covers, oldest first. */
const turns = new Map<string, number[]>();

export default function limit({ sessionKey }: HookEvent<"beforeTurn">): HookAnswer<"beforeTurn"> {
  const now = Date.now();
  const recent = (turns.get(sessionKey) ?? []).filter((at) => at > now - WINDOW_MS);
  const isAllowed = recent.length < MAX_TURNS;
  // A turn that is refused does not count: who keeps asking gets in again when the window has moved on.
  if (isAllowed) recent.push(now);
  turns.delete(sessionKey);
  turns.set(sessionKey, recent);
  if (turns.size > MAX_SESSIONS) turns.delete(turns.keys().next().value!);
  if (isAllowed) return undefined;
  const waitS = Math.ceil((recent[0]! + WINDOW_MS - now) / 1_000);
  return { abort: true, reason: `at most ${MAX_TURNS} turns a minute; the next one in ${waitS} s` };
}
