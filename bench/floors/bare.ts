/**
 * Floor for one more handler in a chain: `applySync` on the caller's own thread, no hop. With `encodes` the caller writes the event
 * and reads the result, which a chain of rewriting handlers cannot avoid; without, the texts are there already, as they are
 * for the second handler of a chain that changes nothing. More than one isolate is entered in turn: colder caches, as in a real chain.
 */
import { contestant } from "../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../src/cli/bench/contestant.ts";
import { eventAt } from "../handlers.ts";
import type { Work } from "../handlers.ts";
import { isolateWith } from "./isolate.ts";

export function bareFloor(work: Work, { timed = true, encodes = false, isolates = 1 } = {}): Contestant {
  const cells = Array.from({ length: isolates }, () => isolateWith(work.handler, timed));
  const texts = work.events.map((event) => JSON.stringify(event));
  const context = JSON.stringify(work.context);
  const apply = (at: number, event: string): string | undefined => cells[at % isolates]!.apply(event, context);
  const call = encodes
    ? (at: number): unknown => {
        const text = apply(at, JSON.stringify(eventAt(work, at)));
        return text === undefined ? undefined : JSON.parse(text);
      }
    : (at: number): unknown => apply(at, texts[at % texts.length]!);
  const name = `floor: bare applySync${encodes ? " with JSON" : ""}${timed ? "" : ", no timeout"}${isolates > 1 ? `, ${isolates} isolates in turn` : ""}`;
  return contestant(name, call, () => cells.forEach((cell) => cell.dispose()));
}
