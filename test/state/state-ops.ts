/**
 * Changes of a state folder that follow from a number, so that a watching test knows what a process was about to do.
 */
import { createHash } from "node:crypto";
import type { Transaction } from "../../src/state/transaction.ts";
import { factsOf, filesOf } from "./state-world.ts";

const IDS = ["a", "b", "@scope/c", "d"];

/** What is installed, as the inventory shows it. */
export type Model = ReadonlyMap<string, string>;

function choose(seed: number, number: number): { id: string; dice: number } {
  const [first, second] = createHash("sha256").update(`${seed} ${number}`).digest();
  return { id: IDS[first! % IDS.length]!, dice: second! % 8 };
}

export async function apply(tx: Transaction, seed: number, number: number): Promise<void> {
  const { id, dice } = choose(seed, number);
  const entry = tx.get(id);
  if (entry && dice === 0) tx.remove(id);
  else if (entry && dice < 3) tx.update(id, { enabled: !entry.enabled });
  else await tx.put(factsOf(id, number), filesOf(id, number));
}

export function applied(model: Model, seed: number, number: number): Model {
  const { id, dice } = choose(seed, number);
  const next = new Map(model);
  const known = model.get(id);
  if (known && dice === 0) next.delete(id);
  else if (known && dice < 3) next.set(id, known.endsWith("-") ? known.slice(0, -1) : `${known}-`);
  else next.set(id, `${id}@${number}`);
  return next;
}

export const listOf = (model: Model) => [...model.values()].toSorted();

/** One change that does everything: replaces, removes, and leaves two folders to be collected. */
export async function STEPPED(tx: Transaction): Promise<void> {
  await tx.put(factsOf("a", 2), filesOf("a", 2));
  tx.remove("b");
}
export const BEFORE = ["a@1", "b@1"];
export const AFTER = ["a@2"];
