/** What the console needs of a host: one in this process, or one that `creel serve` runs. */
import type { Host } from "../host/host-api.ts";

type Used =
  | "id"
  | "stateDir"
  | "on"
  | "plugins"
  | "reload"
  | "disable"
  | "release"
  | "approvals"
  | "revokeApproval"
  | "pendingApprovals"
  | "answerApproval"
  | "approvalLedger"
  | "offerAnswers"
  | "runs"
  | "runDetail"
  | "recentFacts"
  | "stats";

export type ConsoleHost = Pick<Host, Used>;
