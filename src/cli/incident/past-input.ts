/** The event of a past run, for the commands that run it again. */
import { findHook, readInput } from "../call/input.ts";
import type { CallInput } from "../call/input.ts";
import { findProject } from "../plugins/project.ts";
import { pastRun } from "./past-run.ts";

/** Rejects with a CreelError if it is not known, or only a part of it. */
export async function pastInput(runId: string, values: { readonly config?: string; readonly "state-dir"?: string }): Promise<CallInput> {
  const { state } = await findProject(values);
  const { hook, event, context } = await pastRun(state.dir, runId);
  return readInput(findHook(hook, undefined), JSON.stringify(event), JSON.stringify(context));
}
