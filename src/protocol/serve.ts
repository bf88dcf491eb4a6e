/**
 * The messages on the socket of `creel serve`: one JSON text per line, in both directions. The key that a line has
 * tells its kind, so that a person can type one. docs/reference/serve-protocol.md describes them for clients in other
 * languages.
 */
import * as z from "zod";
import { CreelError, ERRORS } from "./errors.ts";
import type { ErrorCode } from "./errors.ts";
import { sessionPatchParams } from "./hooks/session.ts";
import { APPROVAL_DECISIONS } from "./hooks/tool.ts";
import { FACT_NAMES } from "./fact-names.ts";
import { LIMITS } from "./limits.ts";

export { SERVE_PROTOCOL } from "./serve-version.ts";

/** Callbacks that a client can answer for the gateway. */
export const OFFERS = ["getSession", "patchSession", "enqueueInjection", "emitAgentEvent", "requestApproval"] as const;
export type Offer = (typeof OFFERS)[number];

const name = z.string().min(1).max(LIMITS.call.nameChars);
const id = z.union([z.int().nonnegative(), z.string().min(1).max(64)]);
export type RequestId = z.infer<typeof id>;

const nothing = z.object({}).optional();
const ofPlugin = z.object({ plugin: name });
const fields = z.record(z.string(), z.unknown());
const ofKind = { plugin: name.optional() };
const target = z.union([
  z.strictObject({ tool: name, ...ofKind }),
  z.strictObject({ command: name, ...ofKind }),
  z.strictObject({ method: name, ...ofKind }),
  z.strictObject({ route: name, ...ofKind }),
  z.strictObject({ cli: name, ...ofKind }),
  z.strictObject({ job: name, ...ofKind }),
]);

/** The filter of a subscription. For each list that is given, a fact must match one of its values. */
const eventFilter = z.object({
  facts: z.array(z.enum(FACT_NAMES)).max(FACT_NAMES.length).optional(),
  plugins: z.array(name).max(64).optional(),
  hooks: z.array(name).max(64).optional(),
  statuses: z.array(name).max(64).optional(),
});
export type EventFilter = z.infer<typeof eventFilter>;

/** By method. The catalog defines events, and the host checks them. */
export const SERVE_PARAMS = {
  run: z.object({
    hook: name,
    event: z.unknown(),
    ctx: z.unknown().optional(),
    plugin: name.optional(),
    priority: z.number().optional(),
    /** The client that starts the run answers its approvals. */
    approvals: z.boolean().optional(),
    /** False: the host neither remembers an "always" nor uses one. */
    remember: z.boolean().optional(),
    /** 2: the client has sent it before, to a host that may have begun it and did not answer. */
    attempt: z.int().min(1).max(2).optional(),
  }),
  /** `id`: of the delivery, if the hook is durable; a request is answered when the event is kept. */
  emit: z.object({ hook: name, event: z.unknown(), ctx: z.unknown().optional(), id: z.string().min(1).max(64).optional() }),
  has: z.object({ hook: name }),
  plugins: nothing,
  inspect: ofPlugin,
  reload: ofPlugin,
  disable: ofPlugin,
  release: ofPlugin,
  tools: nothing,
  commands: nothing,
  methods: nothing,
  routes: nothing,
  commandLines: nothing,
  services: nothing,
  walls: nothing,
  call: z.object({ target, argument: z.unknown().optional(), ctx: fields.optional(), updates: z.boolean().optional() }),
  patchSession: z.object({ patch: sessionPatchParams }),
  approvals: nothing,
  revokeApproval: z.object({
    pluginId: name,
    toolName: z.string(),
    agentId: z.string().optional(),
    title: z.string().optional(),
    scope: z.string().optional(),
    matcher: z.array(z.string()).optional(),
  }),
  pendingApprovals: nothing,
  answerApproval: z.object({
    id: z.string().max(64),
    digest: z.string().max(128),
    decision: z.enum(APPROVAL_DECISIONS),
    by: z.string().max(LIMITS.call.nameChars).optional(),
    /** Which program the person used; for the ledger. */
    from: z.enum(["serve", "console", "cli"]).optional(),
  }),
  approvalLedger: z
    .object({ plugin: name.optional(), tool: z.string().optional(), since: z.number().optional(), limit: z.int().positive().optional() })
    .optional(),
  /** This client can answer the approvals of all runs, from now on until it says otherwise or leaves. */
  offerAnswers: z.object({ offers: z.boolean() }),
  runs: z
    .object({
      since: z.int().nonnegative().optional(),
      limit: z.int().positive().optional(),
      hook: name.optional(),
      plugin: name.optional(),
      decision: name.optional(),
      brief: z.boolean().optional(),
    })
    .optional(),
  runDetail: z.object({ runId: z.string().min(1).max(64) }),
  recentFacts: z.object({ since: z.int().nonnegative().optional(), limit: z.int().positive().optional() }).optional(),
  stats: nothing,
  subscribe: eventFilter,
} as const satisfies Record<string, z.ZodType>;
export type ServeMethod = keyof typeof SERVE_PARAMS;
export type ServeParams<M extends ServeMethod> = z.infer<(typeof SERVE_PARAMS)[M]>;

const serveError = z.object({
  code: z.string().max(64),
  message: z.string(),
  fix: z.string().optional(),
  params: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
});
export type ServeError = z.infer<typeof serveError>;

const hello = z.object({
  protocol: z.int(),
  token: z.string().max(256),
  offers: z.array(z.enum(OFFERS)).max(OFFERS.length).optional(),
  /** Requests the current state, now and whenever it changes. */
  state: z.boolean().optional(),
});

/** From a client. */
export const clientFrame = z.union([
  z.object({
    method: z.string().max(64),
    id: id.optional(),
    params: z.unknown().optional(),
    cause: z.string().max(LIMITS.causality.tokenChars).optional(),
    /** The client's span, as in the HTTP header of that name. An invalid one is ignored. */
    traceparent: z.string().max(128).optional().catch(undefined),
  }),
  z.object({ answer: z.int(), ok: z.unknown().optional(), error: z.object({ message: z.string() }).optional() }),
  z.object({ cancel: id }),
  z.object({ hello }),
]);
export type ClientFrame = z.infer<typeof clientFrame>;

/** The host makes reports, and clients trust it: they are passed on unchecked. */
const reports = z.array(z.looseObject({}));
const serveState = z.object({
  /** Hooks that plugins listen to. */
  hooks: z.array(z.string()),
  plugins: z.array(z.looseObject({ id: z.string() })),
  tools: reports,
  commands: reports,
  methods: reports,
  // A host of an earlier version has none.
  routes: reports.default([]),
  commandLines: reports.default([]),
  services: reports,
  approvals: reports,
  pids: z.array(z.int()),
  walls: z.looseObject({ isWalled: z.boolean() }),
});
export type ServeState = z.infer<typeof serveState>;

/** From the host. */
export const serverFrame = z.union([
  z.object({ id, error: serveError }),
  z.object({ id, ok: z.unknown() }),
  z.object({ event: z.enum(FACT_NAMES), subscription: id, fact: fields }),
  z.object({ question: z.int(), ask: z.enum(OFFERS), params: fields, cause: z.string().optional(), run: id.optional() }),
  z.object({ withdrawn: z.int() }),
  /** `dropped`: how many updates before it were left out. */
  z.object({ update: id, value: z.unknown(), dropped: z.int().positive().optional() }),
  z.object({ welcome: z.object({ protocol: z.int(), host: z.string(), pid: z.int() }), state: serveState.optional() }),
  z.object({ state: serveState }),
  z.object({ error: serveError }),
  z.object({ bye: z.string() }),
]);
export type ServerFrame = z.infer<typeof serverFrame>;

/** The file beside the socket that only its owner can read. */
export interface ServeKey {
  readonly protocol: number;
  readonly pid: number;
  readonly token: string;
}

export function toWire(error: unknown): ServeError {
  const known =
    error instanceof CreelError ? error : new CreelError("ERR_SERVE_FAILED", { detail: (error as Error)?.message ?? String(error) });
  const params = Object.fromEntries(Object.entries(known.params).filter(([, value]) => value !== undefined)) as ServeError["params"];
  return { code: known.code, message: known.message, fix: known.fix, params };
}

export function fromWire({ code, message, params }: ServeError): CreelError {
  if (Object.hasOwn(ERRORS, code)) return new CreelError(code as ErrorCode, params);
  // The host is newer than this client.
  return new CreelError("ERR_SERVE_FAILED", { detail: `${message} (${code})` });
}

/** Cuts a stream of bytes into lines. A line that grows too long is an error before it is complete. */
export class LineDecoder {
  #chunks: Buffer[] = [];
  #held = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number = LIMITS.serve.frameBytes) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that this chunk completes. Throws a CreelError. */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let at = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, at)) {
      this.#hold(chunk.subarray(at, end));
      lines.push((this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)).toString("utf8"));
      this.#chunks = [];
      this.#held = 0;
      at = end + 1;
    }
    if (at < chunk.length) this.#hold(chunk.subarray(at));
    return lines;
  }

  #hold(piece: Buffer): void {
    this.#held += piece.length;
    if (this.#held > this.#maxBytes) throw new CreelError("ERR_SERVE_FRAME", { detail: `a line of more than ${this.#maxBytes} bytes` });
    this.#chunks.push(piece);
  }
}
