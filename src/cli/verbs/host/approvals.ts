/** `creel approvals`: lists and answers the approvals that wait in a running host, and what was decided before. */
import { UsageError } from "../../options.ts";
import { defineVerb, EXIT } from "../../verb.ts";
import type { ApprovalReceipt } from "../../../protocol/live-report.ts";

const ACTIONS = ["list", "allow", "deny", "always", "revoke", "ledger"] as const;
const DECISIONS = { allow: "allow-once", always: "allow-always", deny: "deny" } as const;
const FIX = 'such as "creel approvals list" or "creel approvals allow 3f9a01bc"';

export const approvals = defineVerb({
  name: "approvals",
  summary: "lists, allows and denies what waits for approval in a host that creel serve runs; lists and revokes what was allowed always",
  takes: "[list|allow|deny|always|revoke|ledger] [id]",
  options: {
    socket: { type: "string", value: "path", help: "the socket of creel serve (default: the one of the state folder here)" },
    digest: { type: "string", value: "hex", help: "allow, always: answers without asking, if this is what waits; as the list shows it" },
    by: { type: "string", value: "name", help: "who decides, for the ledger (default: the user and machine)" },
    plugin: { type: "string", value: "id", help: "list, revoke, ledger: only of this plugin" },
    tool: { type: "string", value: "name", help: "list, revoke, ledger: only of this tool" },
    limit: { type: "string", value: "n", help: "ledger: so many, the latest first (default: 50)" },
  },
  examples: [
    "creel approvals",
    "creel approvals allow 3f9a01bc",
    "creel approvals always 3f9a01bc --digest 5d41402abc4b",
    "creel approvals deny 3f9a01bc --by alice",
    "creel approvals revoke 77aa01f0",
    "creel approvals revoke --plugin guard",
    "creel approvals ledger --json | jq '.[] | {at, resolution, by}'",
  ],
  prints:
    "list: `pending` and `always`, two lists; allow, always, deny: the receipt, with `status` and `resolution`; revoke: `revoked`, a number; ledger: a list with `at`, `id`, `toolName`, `plugins`, `titles`, `digest`, `resolution`, `by`, `from`, `waitedMs`",
  exits: { ok: "done", failed: "the answer did not decide: it came too late, or names what does not wait; or no host answers" },
  asks: true,
  async run({ values, positionals, isJson, out, err }) {
    const [word = "list", id, extra] = positionals;
    const action = ACTIONS.find((one) => one === word);
    if (action === undefined || extra !== undefined) throw new UsageError(`approvals takes ${ACTIONS.join(", ")}, and an id`, FIX);
    const limit = Number(values.limit ?? 50);
    if (!Number.isInteger(limit) || limit < 1) throw new UsageError(`--limit cannot be "${values.limit}"`, "give a number from 1 on");
    const isAnswer = action in DECISIONS;
    if (isAnswer && id === undefined) throw new UsageError(`approvals ${action} takes the id of what waits`, FIX);
    if (action === "revoke" && id === undefined && values.plugin === undefined)
      throw new UsageError("approvals revoke takes an id, or --plugin", FIX);
    const { openHost } = await import("../../../sdk/open-host.ts");
    const { socketOf } = await import("../../serve-socket.ts");
    const { rememberedId } = await import("../../../host/run/approvals/memory.ts");
    const page = await import("../../approvals/page.ts");
    const { printableJson } = await import("../../ui/text.ts");
    await using host = await openHost({ connect: await socketOf(values) });
    const isMeant = (plugins: readonly string[], tool: string): boolean =>
      (values.plugin === undefined || plugins.includes(values.plugin)) && (values.tool === undefined || tool === values.tool);
    const always = host.approvals().filter(({ pluginId, toolName }) => isMeant([pluginId], toolName));
    if (action === "list") {
      const all = await host.pendingApprovals();
      const pending = all.filter(({ requests, toolName }) =>
        isMeant(
          requests.map(({ pluginId }) => pluginId),
          toolName,
        ),
      );
      if (isJson) out.line(printableJson({ pending, always: always.map((one) => ({ id: rememberedId(one), ...one })) }, 2));
      else {
        page.pendingPage(pending, out, Date.now());
        page.alwaysPage(always, out);
      }
      return EXIT.ok;
    }
    if (action === "ledger") {
      const { plugin, tool } = values;
      const filter = { limit, ...(plugin !== undefined && { plugin }), ...(tool !== undefined && { tool }) };
      const entries = await host.approvalLedger(filter);
      if (isJson) out.line(printableJson(entries, 2));
      else page.ledgerPage(entries, out);
      return EXIT.ok;
    }
    if (action === "revoke") {
      const revoked = always.filter((one) => id === undefined || rememberedId(one) === id).filter((one) => host.revokeApproval(one));
      if (isJson) out.line(JSON.stringify({ revoked: revoked.length }));
      else out.line(revoked.length === 0 ? "nothing like that was allowed always" : `${revoked.length} revoked: they are asked again`);
      return revoked.length === 0 ? EXIT.failed : EXIT.ok;
    }
    const { answer } = await import("../../approvals/answer.ts");
    const { askerAt } = await import("../../ui/question.ts");
    const ask = askerAt(() => "Nothing was answered.");
    const decision = DECISIONS[action];
    const receipt = await answer({ host, id: id!, decision, digest: values.digest, by: values.by, ask, out: isJson ? err : out });
    if (isJson) out.line(printableJson(receipt ?? { status: "unanswered" }));
    else (receipt?.status === "accepted" ? out : err).line(said(receipt));
    return receipt?.status === "accepted" ? EXIT.ok : EXIT.failed;
  },
});

function said(receipt: ApprovalReceipt | undefined): string {
  if (!receipt) return "nothing was answered: it still waits";
  const { status, resolution, by } = receipt;
  const how = `${resolution}${by === undefined ? "" : ` by ${by.replaceAll(/[^\x20-\x7e]/g, "?")}`}`;
  const sentences: Record<ApprovalReceipt["status"], string> = {
    accepted: `✓ ${resolution}`,
    settled: `too late: it ended before, with ${how}`,
    unknown: "no approval with that id waits here",
    changed: "what waits is not what was shown: list it again",
    refused: "a request does not permit that answer: the list shows which ones do",
  };
  return sentences[status];
}
