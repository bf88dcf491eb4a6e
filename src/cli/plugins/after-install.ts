/** What to type once a plugin is installed. */
import type { Review } from "../../install/review.ts";
import { commandLine, next } from "../ui/next.ts";
import type { Terminal } from "../ui/terminal.ts";
import { sampleOf } from "../call/input.ts";

/** `place`: as it was given, so that the commands find it again. */
export function afterInstall(
  { id, hooks }: Review,
  { config, "state-dir": stateDir }: { readonly config?: string; readonly "state-dir"?: string },
  terminal: Terminal,
): void {
  const place = { config, "state-dir": stateDir };
  const called = hooks.map(({ hook }) => ({ hook, event: sampleOf(hook) })).find(({ event }) => event !== undefined);
  if (called) next(terminal, commandLine(["call", called.hook], { event: called.event, ...place }));
  next(terminal, commandLine(["inspect", id], place));
}
