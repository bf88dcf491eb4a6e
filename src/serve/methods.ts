/** Trusted side: what a client may request of the host, by method. Parameters are checked by their schema before. */
import { CATALOG } from "../protocol/catalog.ts";
import type { ServeMethod, ServeParams, ServeState } from "../protocol/serve.ts";
import type { ApprovalReply, LedgerFilter } from "../protocol/live-report.ts";
import type { RevokedApproval } from "../host/run/approvals/memory.ts";
import type { RequestApproval } from "../host/run/approvals/approvals.ts";
import type { FunctionTarget } from "../host/functions/function-calls.ts";
import type { Host } from "../host/host-api.ts";

export interface RequestContext {
  readonly signal: AbortSignal;
  /** Sends what a tool reports while it works. */
  readonly update: (value: unknown) => void;
  /** Asks the client that makes the request. */
  readonly requestApproval: RequestApproval;
  /** The client can answer approvals of all runs, or no longer can. */
  readonly offerAnswers: (offers: boolean) => void;
}

type Methods = {
  readonly [M in Exclude<ServeMethod, "subscribe">]: (host: Host, params: ServeParams<M>, context: RequestContext) => unknown;
};

export const METHODS: Methods = {
  // The host checks hook, event and context.
  run: (host, { hook, event, ctx, plugin, priority, approvals, remember, attempt }, { signal, requestApproval }) =>
    host.run(hook as never, event as never, ctx as never, {
      signal,
      ...(plugin !== undefined && { plugin }),
      ...(priority !== undefined && { priority }),
      ...(approvals && { requestApproval }),
      ...(remember !== undefined && { remember }),
      ...(attempt !== undefined && { attempt }),
    }),
  emit: (host, { hook, event, ctx, id }) => host.emit(hook as never, event as never, ctx as never, id === undefined ? {} : { id })?.kept,
  has: (host, { hook }) => host.has(hook as never),
  plugins: (host) => host.plugins(),
  inspect: (host, { plugin }) => host.inspect(plugin),
  reload: (host, { plugin }) => host.reload(plugin),
  disable: (host, { plugin }) => host.disable(plugin),
  release: (host, { plugin }) => host.release(plugin),
  tools: (host) => host.tools(),
  commands: (host) => host.commands(),
  methods: (host) => host.methods(),
  routes: (host) => host.routes(),
  commandLines: (host) => host.commandLines(),
  services: (host) => host.services(),
  walls: (host) => host.walls(),
  call: (host, { target, argument, ctx, updates }, { signal, update }) =>
    host.call(target as FunctionTarget, argument, { signal, ...(ctx && { ctx }), ...(updates && { onUpdate: update }) }),
  patchSession: (host, { patch }) => host.patchSession(patch),
  approvals: (host) => host.approvals(),
  runs: (host, filter) => host.runs(filter),
  runDetail: (host, { runId }) => host.runDetail(runId),
  recentFacts: (host, filter) => host.recentFacts(filter),
  stats: (host) => host.stats(),
  revokeApproval: (host, approval) => host.revokeApproval(approval as RevokedApproval),
  pendingApprovals: (host) => host.pendingApprovals(),
  answerApproval: (host, { from = "serve", ...reply }) => host.answerApproval(reply as ApprovalReply, from),
  approvalLedger: (host, filter) => host.approvalLedger(filter as LedgerFilter | undefined),
  offerAnswers: (_, { offers }, { offerAnswers }) => offerAnswers(offers),
};

/** Methods that change the state: the client gets the new state before the answer. */
export const CHANGES: ReadonlySet<string> = new Set<ServeMethod>(["reload", "disable", "release", "revokeApproval"]);

export function stateOf(host: Host): ServeState {
  return {
    hooks: Object.keys(CATALOG).filter((hook) => host.has(hook as never)),
    plugins: host.plugins() as unknown as ServeState["plugins"],
    tools: host.tools() as unknown as ServeState["tools"],
    commands: host.commands() as unknown as ServeState["commands"],
    methods: host.methods() as unknown as ServeState["methods"],
    routes: host.routes() as unknown as ServeState["routes"],
    commandLines: host.commandLines() as unknown as ServeState["commandLines"],
    services: host.services() as unknown as ServeState["services"],
    approvals: host.approvals() as unknown as ServeState["approvals"],
    pids: host.pids(),
    walls: host.walls() as unknown as ServeState["walls"],
  };
}
