/** What is known about an installed plugin without starting anything. */
import { keysOf } from "../../install/keys.ts";
import { REVIEW, review as reviewSchema } from "../../install/review.ts";
import type { Review } from "../../install/review.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { Grants } from "../../protocol/config.ts";
import type { LockEntry } from "../../state/lock.ts";
import type { Place } from "./place.ts";

export interface Known {
  readonly entry: LockEntry;
  /** What was granted. */
  readonly permissions: readonly string[];
  /** What it was accepted with. */
  readonly review: Review | undefined;
  /** What the creel.json lays over that. */
  readonly configGrants: Grants | undefined;
  /** Why it cannot be loaded. */
  readonly fault: string | undefined;
  readonly fix: string | undefined;
}

export async function lookUp({ state, config }: Place, id: string): Promise<Known> {
  const entry = (await state.read()).get(id);
  if (!entry) throw new CreelError("ERR_STATE_UNKNOWN", { plugin: id });
  const known = { entry, permissions: keysOf(entry), configGrants: config.plugins?.entries?.[id]?.grants };
  try {
    const { files } = await state.load(id);
    const text = files.get(REVIEW)?.toString();
    const review = text === undefined ? undefined : reviewSchema.safeParse(JSON.parse(text)).data;
    return { ...known, review, fault: undefined, fix: undefined };
  } catch (error) {
    if (!(error instanceof CreelError)) throw error;
    return { ...known, review: undefined, fault: error.message, fix: error.fix };
  }
}
