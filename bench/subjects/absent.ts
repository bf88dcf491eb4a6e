/** Packages that may not be there, and contestants that then are not. What is missing is said with its reason, never guessed, never left out. */
import { readFile } from "node:fs/promises";
import type { Absent } from "../case.ts";
import type { Contestant } from "../../src/cli/bench/contestant.ts";
import type { Work } from "../handlers.ts";
import { agreeing } from "./agree.ts";

export class NotHere extends Error {}

/** A package of this folder's package.json. Untyped, because the project's own checks must not need it: the caller says what it uses of it. */
export async function installed<T>(name: string): Promise<T> {
  try {
    return (await import(name)) as T;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new NotHere(code === "ERR_MODULE_NOT_FOUND" ? `${name} is not installed${await whyNot()}` : `${name} does not load: ${message}`);
  }
}

async function whyNot(): Promise<string> {
  const stamp = await readFile(new URL("./node_modules/.creel-setup", import.meta.url), "utf8").catch(() => undefined);
  if (stamp === undefined) return " (`npm run bench` does that, outside of CI)";
  const reason = stamp.slice(stamp.indexOf("\n") + 1);
  return reason === "" ? "" : `: ${reason}`;
}

type Opening = () => Contestant | Promise<Contestant>;
type Openings = Readonly<Record<string, Opening>>;

export interface Present<K extends string> {
  readonly contestants: readonly Contestant[];
  readonly absent: readonly Absent[];
  /** Where a contestant stands; undefined: it is absent. */
  readonly indexOf: (key: K) => number | undefined;
}

/** As `among`, with those that are there. With a work, all must give its answers. */
export async function amongPresent<T extends Openings, R>(
  openings: T,
  use: (present: Present<keyof T & string>) => Promise<R>,
  work?: Work,
): Promise<R> {
  await using stack = new AsyncDisposableStack();
  const contestants: Contestant[] = [];
  const absent: Absent[] = [];
  const places = new Map<string, number>();
  for (const [name, open] of Object.entries(openings)) {
    try {
      contestants.push(stack.use(work ? await agreeing(work, await open()) : await open()));
      places.set(name, contestants.length - 1);
    } catch (error) {
      if (!(error instanceof NotHere)) throw error;
      absent.push({ name, why: error.message });
    }
  }
  return await use({ contestants, absent, indexOf: (key) => places.get(key) });
}
