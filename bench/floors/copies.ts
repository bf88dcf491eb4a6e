/** Floors for what a boundary is made of: a copy of the event, in the two ways there are. No boundary, no thread. */
import { contestant } from "../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../src/cli/bench/contestant.ts";
import { eventAt } from "../handlers.ts";
import type { Work } from "../handlers.ts";

export function cloneFloor(work: Work): Contestant {
  return contestant("floor: structuredClone", (at) => structuredClone(eventAt(work, at)));
}

export function jsonFloor(work: Work): Contestant {
  return contestant("floor: JSON there and back", (at) => JSON.parse(JSON.stringify(eventAt(work, at))));
}
