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
import { suggest } from "../../text/did-you-mean.ts";
import { parseJson } from "../../text/parse-json.ts";
import { UsageError } from "../options.ts";
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
  /** Where the CPU time went, if the call has no place of its own. */
  readonly slowest?: string | undefined;
  /** Fields of the event that the operator does not send, as paths: `params.command`. */
  readonly redact: readonly string[];
}

/** Throws a CreelError if the log has only a part of the event, and a UsageError if a field that is not to be sent is not there. */
export function incidentOf({ run, plugin, profile, slowest, redact }: SaveOptions): Incident {
  const event = structuredClone(wholeOf(run.event));
  if (!event) throw new CreelError("ERR_REPLAY_EVENT", { runId: run.runId });
  const context = structuredClone(wholeOf(run.context) ?? {});
  const paths = pathsOf(event);
  const names = paths.map((path) => path.join("."));
  // SECURITY: a person who misspells a field must not believe that it was left out. test/cli/incident/incident.test.ts
  for (const path of redact)
    if (!names.includes(path))
      throw new UsageError(
        `nothing was written: the event has no field "${path}"${suggest(path, names)}`,
        `its fields are ${names.slice(0, SHOWN).join(", ")}${names.length > SHOWN ? " …" : ""}`,
      );
  // A name may contain dots, so that several fields can have one path.
  const hidden = redact.flatMap((path) => paths.filter((_, at) => names[at] === path).flatMap((one) => blank(event, one)));
  const shown = without(event, hidden);
  const calls = run.calls.map((call) => ({ ...call, ...(redact.length > 0 && { saw: undefined, returned: undefined }) }));
  const failed = run.calls.find(({ plugin: id, error }) => id === plugin.id && error);
  const at = failed?.error?.at ?? slowest;
  const kept = { ...run, event: { value: shown }, calls, ...(redact.length > 0 && { result: undefined }) };
  return {
    creelIncident: 1,
    creel: version(),
    node: process.version,
    plugin,
    // A reason or an error may repeat what was redacted, and so may the context and other fields.
    run: without(kept, hidden),
    event: shown,
    context: without(context, hidden),
    ...(at !== undefined && { at }),
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

const REDACTED = "[redacted]";
/** Shorter texts are parts of other words. */
const MIN_CHARS = 4;

/** An error lists no more. */
const SHOWN = 20;

/** Of all fields. A name may have dots. */
function pathsOf(value: unknown): string[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [[name], ...pathsOf(inner).map((rest) => [name, ...rest])]);
}

/** The value becomes a text that says so: the plugin still sees that the field is there. Gives the texts that were there. */
function blank(value: Record<string, unknown>, [first = "", ...rest]: readonly string[]): string[] {
  const inner = value[first];
  if (rest.length === 0) {
    value[first] = REDACTED;
    return textsOf(inner).filter((text) => text.length >= MIN_CHARS);
  }
  return typeof inner === "object" && inner !== null ? blank(inner as Record<string, unknown>, rest) : [];
}

function textsOf(value: unknown): string[] {
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(textsOf);
  return typeof value === "string" || typeof value === "number" ? [String(value)] : [];
}

/** The same data without these texts. */
function without<T>(value: T, hidden: readonly string[]): T {
  if (typeof value === "string") return hidden.reduce<string>((text, one) => text.replaceAll(one, REDACTED), value) as T;
  if (Array.isArray(value)) return value.map((one: unknown) => without(one, hidden)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, without(inner as unknown, hidden)])) as T;
}
