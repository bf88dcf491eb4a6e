/** One line of a recording: a run with its whole event, so that it can be run again. `creel replay` and `creel rerun` read it. */
import * as z from "zod";

export const RECORDING_VERSION = 1;
export const RECORDINGS_FOLDER = "recordings";

const fields = z.record(z.string(), z.unknown());

export const recordedRun = z.object({
  v: z.literal(RECORDING_VERSION),
  at: z.number(),
  runId: z.string(),
  hook: z.string(),
  event: fields,
  context: fields,
  /** The decision and, if plugins asked for one, how the approval ended. */
  decision: z.string(),
  approval: z.string().exactOptional(),
  /** Every request was answered by an earlier "always". */
  isRemembered: z.boolean().exactOptional(),
  by: z.string().exactOptional(),
  reason: z.string().exactOptional(),
  /** `plugin` and `status` of every call. */
  calls: z.array(z.object({ plugin: z.string(), status: z.string() })),
});
export type RecordedRun = z.infer<typeof recordedRun>;
