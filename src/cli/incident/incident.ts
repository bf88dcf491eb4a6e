/**
 * An incident file: one run with its event, the versions of all that took part and, if a plugin ran out of time, its
 * profile. An operator saves it and reads it before it is sent; the author opens it with `creel dev --incident`. What it
 * contains is a third party's when it is read.
 */
import { readFile, writeFile } from "node:fs/promises";
import * as z from "zod";
import { auditRun } from "../../protocol/audit-line.ts";
import type { AuditRun } from "../../protocol/audit-line.ts";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { parseJson } from "../../text/parse-json.ts";
import { version } from "../self.ts";
import { wholeOf } from "./past-run.ts";

const fields = z.record(z.string(), z.unknown());
const incident = z.object({
  creelIncident: z.literal(1),
  creel: z.string().max(64),
  node: z.string().max(64),
  /** The one that decided or failed. */
  plugin: z.object({ id: z.string().max(256), version: z.string().max(64).optional(), digest: z.string().max(128).optional() }),
  run: auditRun,
  event: fields,
  context: fields,
  /** Where it failed, as file:line:column of the author's. */
  at: z.string().max(1_000).optional(),
  /** The content of a `.cpuprofile`. */
  profile: z.string().optional(),
});
export type Incident = z.infer<typeof incident>;

export interface SaveOptions {
  readonly run: AuditRun;
  readonly plugin: Incident["plugin"];
  readonly profile: string | undefined;
  /** Fields of the event that the operator does not send, as paths: `params.command`. */
  readonly redact: readonly string[];
}

/** Rejects with a CreelError if the log has only a part of the event. */
export function incidentOf({ run, plugin, profile, redact }: SaveOptions): Incident {
  const event = structuredClone(wholeOf(run.event));
  if (!event) throw new CreelError("ERR_REPLAY_EVENT", { runId: run.runId });
  const context = structuredClone(wholeOf(run.context) ?? {});
  for (const path of redact) blank(event, path.split("."));
  const calls = run.calls.map((call) => ({ ...call, ...(redact.length > 0 && { saw: undefined, returned: undefined }) }));
  const failed = run.calls.find(({ plugin: id, error }) => id === plugin.id && error);
  return {
    creelIncident: 1,
    creel: version(),
    node: process.version,
    plugin,
    run: { ...run, event: { value: event }, calls, ...(redact.length > 0 && { result: undefined }) },
    event,
    context,
    ...(failed?.error?.at !== undefined && { at: failed.error.at }),
    ...(profile !== undefined && { profile }),
  };
}

export async function saveIncident(file: string, made: Incident): Promise<void> {
  await writeFile(file, `${JSON.stringify(made, undefined, 2)}\n`, { mode: 0o600 });
}

/** Rejects with a CreelError. */
export async function readIncident(file: string): Promise<Incident> {
  const refuse = (detail: string): CreelError => new CreelError("ERR_INCIDENT_INVALID", { file, detail });
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw refuse(error.message);
  });
  if (text.length > LIMITS.inspect.incidentChars) throw refuse(`it has ${text.length} characters`);
  const parsed = parseJson(incident, text);
  if (!parsed.success) throw refuse("it does not have the fields of one");
  return parsed.data;
}

/** The value becomes a text that says so: the plugin still sees that the field is there. */
function blank(value: Record<string, unknown>, [first = "", ...rest]: readonly string[]): void {
  const inner = value[first];
  if (inner === undefined) return;
  if (rest.length === 0) value[first] = "[redacted]";
  else if (typeof inner === "object" && inner !== null) blank(inner as Record<string, unknown>, rest);
}
