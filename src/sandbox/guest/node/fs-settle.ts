/** Inside the isolate: how a synchronous file function becomes one that can be waited for: it is done at once, and settles when the host has written it down. */
import { journal } from "./fs-tree.ts";

export async function settled<T>(work: () => T): Promise<T> {
  const before = journal?.changes ?? 0;
  const value = work();
  if ((journal?.changes ?? 0) !== before) await journal!.persisted();
  return value;
}
