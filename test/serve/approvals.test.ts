/** Approvals over `creel serve`: several clients offer to answer, all are told, one wins; gateways are asked about their own runs only. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { openHost } from "creel";
import type { ApprovalQuestion, Facts, Host } from "creel";
import type { Served } from "../../src/serve/server.ts";
import { next, plugin, silent } from "../support/host.ts";
import { RawClient, served } from "../support/serve.ts";

const PLUGINS = [
  plugin(
    "asker",
    `api.on("before_tool_call", (e) => ({ requireApproval: { title: "Sure?", description: "really", timeoutMs: e.params.ms ?? 60000 } }));`,
  ),
];

let server: Served;
beforeAll(async () => {
  server = await served({ plugins: PLUGINS });
});
afterAll(() => server.close());

const join = (requestApproval?: (question: ApprovalQuestion, options: { signal: AbortSignal }) => Promise<"deny" | undefined>) =>
  openHost({ connect: server.socket, logger: silent, ...(requestApproval && { gateway: { requestApproval } }) });
const tool = (toolName: string, params = {}) => ["before_tool_call", { toolName, params }] as const;
/** Asks the host something, so that everything this client sent before has arrived. */
const arrived = (host: Host) => host.pendingApprovals();

it("operators see and answer a run of a gateway whose user is asked at the same time; the gateway's question is withdrawn", async () => {
  const withdrawn = Promise.withResolvers<void>();
  await using gateway = await join(
    (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => (withdrawn.resolve(), reject(new Error("withdrawn"))));
      }),
  );
  await using operator = await join();
  await using other = await join();
  const told: Facts["approval"][] = [];
  other.on("approval", (fact) => told.push(fact));
  await arrived(other);
  const asked = next(operator, "approval", ({ what }) => what === "asked");
  await arrived(operator);
  const outcome = gateway.run(...tool("rm", { path: "x" }));
  const { id } = await asked;
  const [pending] = await operator.pendingApprovals();
  expect(pending).toMatchObject({ id, toolName: "rm", params: { path: "x" }, requests: [{ pluginId: "asker", title: "Sure?" }] });
  const { digest } = pending!;
  expect(await operator.answerApproval({ id, digest: "0".repeat(64), decision: "allow-once" }, "cli")).toEqual({ status: "changed" });
  const [one, two] = await Promise.all([
    operator.answerApproval({ id, digest, decision: "allow-once", by: "alice" }, "console"),
    other.answerApproval({ id, digest, decision: "deny", by: "bob" }, "cli"),
  ]);
  // Two sockets: either may be first, and then the other has lost and knows to whom.
  const [won, lost, by] = one.status === "accepted" ? [one, two, "alice"] : [two, one, "bob"];
  expect([won, lost]).toMatchObject([
    { status: "accepted", by },
    { status: "settled", by, resolution: won.resolution },
  ]);
  expect(await outcome).toMatchObject({ decision: by === "alice" ? "pass" : "block", approval: { answeredBy: by } });
  await withdrawn.promise;
  await arrived(other);
  expect(told.map(({ what, id: of, by: who }) => [what, of, who])).toEqual([
    ["asked", id, undefined],
    ["settled", id, by],
  ]);
  expect((await operator.approvalLedger({ plugin: "asker", limit: 1 }))[0]).toMatchObject({
    id,
    by,
    from: by === "alice" ? "console" : "cli",
  });
});

it("a gateway is not asked about another gateway's approval, whether it offers its user or not", async () => {
  const asked: string[] = [];
  await using first = await join(async ({ toolName }) => (asked.push(`first ${toolName}`), "deny"));
  await using second = await join(async ({ toolName }) => (asked.push(`second ${toolName}`), "deny"));
  await Promise.all([first.run(...tool("one")), second.run(...tool("two"))]);
  expect(asked.toSorted()).toEqual(["first one", "second two"]);
});

it("a client's offer makes calls without a user wait, and ends with its connection; a new connection repeats it", async () => {
  await using gateway = await join();
  const blocked = { decision: "block", reason: expect.stringContaining("no approval route") };
  expect(await gateway.run(...tool("rm"))).toMatchObject(blocked);
  {
    await using operator = await join();
    operator.offerAnswers();
    const asked = next(operator, "approval", ({ what }) => what === "asked");
    await arrived(operator);
    const outcome = gateway.run(...tool("rm"));
    const { id, pending } = await asked;
    await operator.answerApproval({ id, digest: pending!.digest, decision: "allow-once" });
    expect(await outcome).toMatchObject({ decision: "pass" });
    expect(await gateway.run(...tool("rm", { ms: 20 }))).toMatchObject({ decision: "block", reason: "Approval timed out" });
  }
  // The host has heard that the client left when a new one has been served.
  await using late = await join();
  await arrived(late);
  expect(await gateway.run(...tool("rm"))).toMatchObject(blocked);
  const leave = late.offerAnswers();
  await arrived(late);
  expect(await gateway.run(...tool("rm", { ms: 20 }))).toMatchObject({ decision: "block", reason: "Approval timed out" });
  leave();
  await arrived(late);
  expect(await gateway.run(...tool("rm"))).toMatchObject(blocked);
});

it("a client in another language: the methods take what their schema says, and nothing else", async () => {
  using client = await RawClient.welcome(server.socket);
  const ask = async (method: string, params: object) => {
    client.say({ id: method, method, params });
    return client.next("id", method);
  };
  expect(await ask("pendingApprovals", {})).toMatchObject({ ok: [] });
  expect(await ask("answerApproval", { id: "nope", digest: "", decision: "deny" })).toMatchObject({ ok: { status: "unknown" } });
  expect(await ask("answerApproval", { id: "x", digest: "", decision: "maybe" })).toMatchObject({ error: { code: "ERR_SERVE_FRAME" } });
  // Only the gateway's own callback answers as the gateway.
  expect(await ask("answerApproval", { id: "x", digest: "", decision: "deny", from: "gateway" })).toMatchObject({
    error: { code: "ERR_SERVE_FRAME" },
  });
  expect(await ask("approvalLedger", { limit: 0 })).toMatchObject({ error: { code: "ERR_SERVE_FRAME" } });
  expect(await ask("offerAnswers", {})).toMatchObject({ error: { code: "ERR_SERVE_FRAME" } });
});
