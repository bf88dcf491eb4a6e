/** `creel`: the gateway's side. */
export { openHost } from "./sdk/gateway.ts";
export type { Host } from "./sdk/gateway.ts";
export type { OpenOptions, PluginSpec } from "./sdk/options.ts";
export type { ApprovalDecision, ApprovalQuestion, RequestApproval } from "./host/approvals.ts";
export type { FactName, Facts } from "./host/events.ts";
export type { RunOptions } from "./host/host.ts";
export type { PluginReport } from "./host/inspect.ts";
export type { Logger } from "./host/log.ts";
export { CATALOG, defineHook } from "./protocol/catalog.ts";
export type { Catalog, ContextOf, EventOf, HookDefinition, HookName, HookTable, ResultOf } from "./protocol/catalog.ts";
export { CreelError, ERRORS } from "./protocol/errors.ts";
export type { ErrorCode } from "./protocol/errors.ts";
export type { Call, CallError, Decision, Outcome } from "./protocol/outcome.ts";
