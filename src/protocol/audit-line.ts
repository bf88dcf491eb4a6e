/**
 * The lines of the audit log (`<stateDir>/audit`), one JSON object each. The host writes them, the command line reads them, and whoever else reads
 * them finds them described in docs/audit.md. Readers leave out what they do not know: another version of Creel may have written it.
 */
import * as z from "zod";

export const AUDIT_VERSION = 1;

const name = z.string().max(1_024);
const count = z.int().nonnegative();
const ms = z.number().nonnegative();

/** Data as it is, or, where it was too long, the beginning of its JSON text and how long that was. */
export const auditShown = z.union([z.object({ value: z.unknown() }), z.object({ text: z.string(), chars: count })]);
export type AuditShown = z.infer<typeof auditShown>;

const budget = z.object({ value: ms, origin: name });

export const auditCall = z.object({
  plugin: name,
  priority: z.number(),
  status: name,
  wallMs: ms,
  cpuMs: ms,
  /** What it might have used, and who said so. */
  budget: z.object({ wallMs: budget, cpuMs: budget }),
  /** Of the event, the fields that handlers before it had changed, as it saw them. Absent: it saw the event as it was given, or was not called. */
  saw: auditShown.optional(),
  /** Absent: nothing. */
  returned: auditShown.optional(),
  /** The fields of the event that are different for those who come after it. */
  changed: z.array(name).optional(),
  error: z.object({ code: name, message: z.string(), at: z.string().optional() }).optional(),
  /** Fields of what it returned that the hook does not know. */
  ignored: z.array(z.string()).optional(),
});
export type AuditCall = z.infer<typeof auditCall>;

const line = { v: z.literal(AUDIT_VERSION), at: z.iso.datetime(), host: name, pid: z.int() };

const chain = z.object({ rootRunId: name, depth: count, path: z.array(name) });

/** A run that was blocked, cancelled, aborted or taken over, in which a call failed, or for which somebody was asked. */
export const auditRun = z.object({
  ...line,
  kind: z.literal("run"),
  runId: name,
  hook: name,
  decision: name,
  /** The plugin that decided. */
  by: name.optional(),
  reason: z.string().optional(),
  /** What a failing handler means for this hook here. */
  failure: z.enum(["open", "closed"]),
  chain,
  approval: z.object({ pluginId: name, resolution: name }).optional(),
  /** Absent with `audit.events: "none"`, as are `context`, `result`, and what calls saw and returned. */
  event: auditShown.optional(),
  context: auditShown.optional(),
  result: auditShown.optional(),
  /** Why it is not known what each call saw. */
  unknown: z.string().optional(),
  calls: z.array(auditCall),
  /** Calls that are not listed. */
  more: count.optional(),
});
export type AuditRun = z.infer<typeof auditRun>;

const plugin = name;
const why = z.string();

/** What happened to plugins and to the sandbox. */
export const auditState = z.discriminatedUnion("kind", [
  z.object({ ...line, kind: z.literal("quarantine"), plugin, state: name, why, until: z.iso.datetime().optional() }),
  z.object({ ...line, kind: z.literal("restart"), plugin: plugin.optional(), why, lanes: z.array(count) }),
  z.object({ ...line, kind: z.literal("recursion"), plugin, sessionKey: z.string().optional(), limit: name, chain }),
  z.object({ ...line, kind: z.literal("plugin"), plugin, status: name, error: z.string().optional() }),
  z.object({ ...line, kind: z.literal("replaced"), plugin, why }),
  /** Lines that were not written: the same happened too often (`plugin` and `hook` are there then), or there was no room or time for them. */
  z.object({ ...line, kind: z.literal("dropped"), count, since: z.iso.datetime(), why, plugin: plugin.optional(), hook: name.optional() }),
]);
export type AuditState = z.infer<typeof auditState>;

const request = z.object({ origin: name, method: name, path: z.string(), count });
export type AuditRequest = z.infer<typeof request>;

/**
 * What a plugin has used since the host was opened. The last line of a host about a plugin holds all that the ones before it say.
 */
export const auditUsage = z.object({
  ...line,
  kind: z.literal("usage"),
  plugin,
  since: z.iso.datetime(),
  /** Its handlers and functions, and how often each was called. */
  calls: z.record(name, count),
  /** Keys of permissions, and how often each was used. Requests are in `fetch`. */
  used: z.record(name, count),
  /** By origin and method; `path` is what the paths have in common, by whole segments. */
  fetch: z.array(request),
  /** The same for what it asked for and was not granted. */
  refused: z.record(name, count),
  refusedFetch: z.array(request),
  /** Requests to further origins, that are not listed. */
  more: count.optional(),
});
export type AuditUsage = z.infer<typeof auditUsage>;

export const auditLine = z.union([auditRun, auditUsage, auditState]);
export type AuditLine = z.infer<typeof auditLine>;

type Own = "v" | "at" | "host" | "pid";
type Bare<T> = T extends unknown ? Omit<T, Own> : never;
/** What is said; when, and by which host, is added to it. */
export type AuditEntry = Bare<AuditLine>;
