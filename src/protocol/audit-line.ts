/**
 * The lines of the audit log (`<stateDir>/audit`), one JSON object each. The host writes them and the command line
 * reads them; docs/reference/audit.md describes them for other readers. Readers skip what they do not know, because
 * another version of Creel may have written it.
 */
import * as z from "zod";

export const AUDIT_VERSION = 1;

const name = z.string().max(1_024);
const count = z.int().nonnegative();
const ms = z.number().nonnegative();

/** Data as it is. If it was too long: the beginning of its JSON text, and the text's length. */
export const auditShown = z.union([z.object({ value: z.unknown() }), z.object({ text: z.string(), chars: count })]);
export type AuditShown = z.infer<typeof auditShown>;

const budget = z.object({ value: ms, origin: name });

export const auditCall = z.object({
  plugin: name,
  priority: z.number(),
  status: name,
  wallMs: ms,
  cpuMs: ms,
  /** The permission it might have used, and where that came from. */
  budget: z.object({ wallMs: budget, cpuMs: budget }),
  /**
   * Fields of the event that earlier handlers had changed, as this handler saw them. Absent: it saw the original event,
   * or was not called.
   */
  saw: auditShown.optional(),
  /** Absent: it returned nothing. */
  returned: auditShown.optional(),
  /** Fields of the event that it changed for later handlers. */
  changed: z.array(name).optional(),
  error: z.object({ code: name, message: z.string(), at: z.string().optional() }).optional(),
  /** Fields of its result that the hook does not know. */
  ignored: z.array(z.string()).optional(),
});
export type AuditCall = z.infer<typeof auditCall>;

const line = { v: z.literal(AUDIT_VERSION), at: z.iso.datetime(), host: name, pid: z.int() };

const chain = z.object({ rootRunId: name, depth: count, path: z.array(name) });

/**
 * A run that was blocked, cancelled, aborted or handled by a plugin, that had a failed call, or that needed an
 * approval.
 */
export const auditRun = z.object({
  ...line,
  kind: z.literal("run"),
  runId: name,
  hook: name,
  decision: name,
  /** The plugin that decided. */
  by: name.optional(),
  reason: z.string().optional(),
  /** What a failing handler means for this hook under this configuration. */
  failure: z.enum(["open", "closed"]),
  chain,
  approval: z
    .object({
      pluginId: name,
      resolution: name,
      /** Which plugin requested which approval, and how it ended. */
      requests: z
        .array(
          z.object({
            pluginId: name,
            title: z.string(),
            severity: name.optional(),
            resolution: name,
            isRemembered: z.boolean().optional(),
          }),
        )
        .optional(),
      /** Which plugin changed which parameters after the first request. */
      changes: z.array(z.object({ pluginId: name, params: z.array(z.string()) })).optional(),
      /** Who answered, according to the gateway. */
      answeredBy: z.string().optional(),
    })
    .optional(),
  /** Absent with `audit.events: "none"`, as are `context`, `result`, and what calls saw and returned. */
  event: auditShown.optional(),
  context: auditShown.optional(),
  result: auditShown.optional(),
  /** Why the log does not say what each call saw. */
  unknown: z.string().optional(),
  calls: z.array(auditCall),
  /** How many calls are not listed. */
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
  /** The operator's policy accepted an update without a person. `host` is the command that did it. */
  z.object({ ...line, kind: z.literal("accepted"), plugin, from: name.optional(), to: name.optional(), digest: name, why }),
  z.object({ ...line, kind: z.literal("moved"), plugin, lane: count, why }),
  /**
   * Lines that were not written, because the same thing happened too often (then `plugin` and `hook` are set), or
   * because there was no room or time for them.
   */
  z.object({ ...line, kind: z.literal("dropped"), count, since: z.iso.datetime(), why, plugin: plugin.optional(), hook: name.optional() }),
]);
export type AuditState = z.infer<typeof auditState>;

const request = z.object({ origin: name, method: name, path: z.string(), count });
export type AuditRequest = z.infer<typeof request>;

/**
 * What a plugin has used since the host was opened. The last such line of a host about a plugin includes all earlier
 * ones.
 */
export const auditUsage = z.object({
  ...line,
  kind: z.literal("usage"),
  plugin,
  since: z.iso.datetime(),
  /** Its handlers and functions, and how often each was called. */
  calls: z.record(name, count),
  /** Permission keys, and how often each was used. Requests are in `fetch`. */
  used: z.record(name, count),
  /** By origin and method. `path` is the common beginning of the paths, in whole segments. */
  fetch: z.array(request),
  /** The same for requests that were not granted. */
  refused: z.record(name, count),
  refusedFetch: z.array(request),
  /** Requests to further origins, which are not listed. */
  more: count.optional(),
});
export type AuditUsage = z.infer<typeof auditUsage>;

export const auditLine = z.union([auditRun, auditUsage, auditState]);
export type AuditLine = z.infer<typeof auditLine>;

type Own = "v" | "at" | "host" | "pid";
type Bare<T> = T extends unknown ? Omit<T, Own> : never;
/** The line's own content. Time and host are added to it. */
export type AuditEntry = Bare<AuditLine>;
