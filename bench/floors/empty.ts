/** Floor for a hook that nobody listens to: an async function that does nothing. */
import { contestant } from "../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../src/cli/bench/contestant.ts";

async function nothing(_at: number): Promise<undefined> {
  return undefined;
}

export function emptyFloor(): Contestant {
  return contestant("floor: empty async call", nothing);
}
