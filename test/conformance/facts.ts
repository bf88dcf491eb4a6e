/**
 * The facts about OpenClaw's two hook runners that Creel is measured by, by their numbers in the requirements (hooks.md, "Executed
 * against both real runners"). Where the runners differ, the newer one counts. "overridden": Creel decided otherwise, and the
 * fact's test holds that decision; facts about rewrites are tested with `rewrites: "isolated"` besides, and facts about several
 * requests for approval with `approvals.plugin.compat: "first-wins"`, as OpenClaw's.
 */
export type Applies = "holds" | "overridden" | `does not apply: ${string}`;

const holding = (...numbers: number[]) => numbers.map((number) => [number, "holds"] as const);
const overridden = (...numbers: number[]) => numbers.map((number) => [number, "overridden"] as const);

export const FACTS: ReadonlyMap<number, Applies> = new Map<number, Applies>([
  // Ordering and general
  ...holding(1, 3, 4, 5, 6, 9, 10),
  ...overridden(7),
  // before_tool_call
  ...holding(11, 13, 14, 18, 19, 20, 21, 27, 28, 30, 31),
  ...overridden(15, 16, 17, 22, 23, 24, 29),
  // Approvals
  ...holding(33, 34, 35, 38, 42),
  ...overridden(36, 40),
  [39, "does not apply: a request has no id of its own; the gateway's requestApproval gives the decision, or nothing"],
  // message_sending and reply_payload_sending
  ...holding(43, 45, 46, 47, 50, 51, 52),
  ...overridden(44),
  // Model and prompt
  ...holding(53, 54, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65),
  // before_agent_run and before_agent_finalize
  ...holding(66, 67, 68, 70, 71, 72),
  // Sync hooks
  ...holding(73, 74, 76),
  // Claims
  ...holding(79, 80, 82, 83, 85),
  ...overridden(84),
  // Others
  ...holding(87, 89, 90, 91, 92),
  // Internal hooks
  ...holding(95, 100, 101, 102, 103),
  ...overridden(94, 97, 99),
]);

/** Facts about rewrites: a host that was opened with `rewrites: "isolated"` keeps to them. */
export const ISOLATED: readonly number[] = [15, 16, 17, 44];

/** Facts about several requests for approval: a host with `approvals.plugin.compat: "first-wins"` keeps to them. */
export const FIRST_WINS: readonly number[] = [22, 23, 24];
