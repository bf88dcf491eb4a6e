/** Answers one approval of a running host: shows it, makes sure that the person means exactly this one, and sends what was shown. */
import type { Host } from "../../host/host-api.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { ApprovalReceipt, ApprovalReply, PendingApproval } from "../../protocol/live-report.ts";
import { UsageError } from "../options.ts";
import { currentUser } from "../plugins/project.ts";
import { isYes } from "../ui/question.ts";
import type { Ask } from "../ui/question.ts";
import type { Terminal } from "../ui/terminal.ts";
import { approvalPage, DIGEST_CHARS } from "./page.ts";

export interface Answering {
  readonly host: Host;
  readonly id: string;
  readonly decision: ApprovalReply["decision"];
  /** The beginning of the digest that the person saw in a list. */
  readonly digest: string | undefined;
  readonly by: string | undefined;
  /** Undefined: there is no terminal. */
  readonly ask: Ask | undefined;
  readonly out: Terminal;
}

/** Undefined: the person said no. */
export async function answer({ host, id, decision, digest, by, ask, out }: Answering): Promise<ApprovalReceipt | undefined> {
  const pending = (await host.pendingApprovals()).find((one) => one.id === id);
  // The host knows better why it is not there any more.
  if (!pending) return host.answerApproval({ id, digest: "", decision }, "cli");
  if (digest !== undefined) checkDigest(pending, digest);
  // A denial changes nothing that a person could regret unseen.
  else if (decision !== "deny") {
    if (!ask) throw new UsageError("there is no terminal to ask at", `pass --digest with the digest that "creel approvals list" shows`);
    approvalPage(pending, out, Date.now());
    if (!isYes(await ask(`${decision === "allow-always" ? "Allow this always" : "Allow this once"}? [y/N] `))) return undefined;
  }
  return host.answerApproval({ id, digest: pending.digest, decision, by: by ?? currentUser() }, "cli");
}

function checkDigest({ id, digest }: PendingApproval, given: string): void {
  if (given.length < DIGEST_CHARS)
    throw new UsageError(`--digest takes at least ${DIGEST_CHARS} characters`, `copy it from "creel approvals list"`);
  if (!digest.startsWith(given.toLowerCase()))
    throw new CreelError("ERR_APPROVAL_CHANGED", { id, given, found: digest.slice(0, given.length) });
}
