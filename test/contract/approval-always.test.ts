/** "Always" and the ledger outlive the host; an "always" does not outlive the code that asked. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Host, RequestApproval } from "creel";
import { folder, write } from "../support/files.ts";
import { contract, open, recorder } from "../support/host.ts";
import type { Isolation } from "../support/host.ts";

const ASKS = `export default (api) => { api.on("before_tool_call", () => ({ requireApproval: { title: "Sure?", description: "d" } })); };`;
const NOBODY: RequestApproval = async () => undefined;

const place = (): { stateDir: string; path: string } => {
  const root = folder({ "asker/index.js": ASKS });
  return { stateDir: join(root, "state"), path: join(root, "asker/index.js") };
};
const run = (host: Host) => host.run("before_tool_call", { toolName: "rm", params: {} }, { toolName: "rm", agentId: "main" });

contract("always, with a state folder", (isolation: Isolation) => {
  const openIn = (
    { stateDir, path }: ReturnType<typeof place>,
    requestApproval: RequestApproval,
    logger = recorder().logger,
  ): Promise<Host> => open(isolation, { plugins: [{ id: "asker", path }], config: { stateDir }, gateway: { requestApproval }, logger });

  it("survives a restart, is listed, and is revoked for good", async () => {
    const where = place();
    {
      await using host = await openIn(where, async () => ({ decision: "allow-always", by: "alice" }));
      expect((await run(host)).decision).toBe("pass");
    }
    expect(statSync(join(where.stateDir, "approvals.json")).mode & 0o077).toBe(0);
    {
      await using host = await openIn(where, NOBODY);
      expect(await run(host)).toMatchObject({ decision: "pass", approval: { requests: [{ isRemembered: true }] } });
      const [always] = host.approvals();
      expect(always).toEqual({ pluginId: "asker", toolName: "rm", agentId: "main", title: "Sure?" });
      expect(await host.approvalLedger()).toMatchObject([{ seq: 1, resolution: "allow-always", by: "alice", from: "gateway" }]);
      expect(host.revokeApproval(always!)).toBe(true);
      expect((await run(host)).decision).toBe("block");
    }
    await using host = await openIn(where, async () => "deny");
    expect(host.approvals()).toEqual([]);
    expect((await run(host)).decision).toBe("block");
    // Numbers go on, the latest first. What was remembered, or could not be asked, was no decision.
    expect(await host.approvalLedger()).toMatchObject([
      { seq: 2, resolution: "deny" },
      { seq: 1, resolution: "allow-always" },
    ]);
    expect(await host.approvalLedger({ limit: 1 })).toHaveLength(1);
    expect(await host.approvalLedger({ plugin: "other" })).toEqual([]);
    expect(await host.approvalLedger({ tool: "rm", since: Date.now() + 1000 })).toEqual([]);
  });

  it("what one host revokes, another with the same folder uses no more", async () => {
    const where = place();
    await using first = await openIn(where, async () => "allow-always");
    await run(first);
    await using second = await openIn(where, NOBODY);
    expect((await run(second)).decision).toBe("pass");
    first.revokeApproval(first.approvals()[0]!);
    expect(second.approvals()).toEqual([]);
    expect((await run(second)).decision).toBe("block");
  });

  it("is gone when the plugin's code has changed: in a reload, and after a restart", async () => {
    const where = place();
    {
      await using host = await openIn(where, async () => "allow-always");
      await run(host);
      await host.reload("asker");
      expect(await run(host)).toMatchObject({ approval: { requests: [{ isRemembered: true }] } });
      write(where.path.slice(0, -"/index.js".length), { "index.js": `${ASKS} globalThis.changed = 1;` });
      await host.reload("asker");
      const asked = await run(host);
      expect(asked.approval!.requests[0]!.isRemembered).toBeUndefined();
      expect(asked.decision).toBe("pass");
    }
    write(where.path.slice(0, -"/index.js".length), { "index.js": `${ASKS} globalThis.changed = 2;` });
    await using host = await openIn(where, NOBODY);
    expect((await run(host)).decision).toBe("block");
    expect(host.approvals()).toEqual([]);
  });

  it("a broken file is set aside and allows nothing; the log says so", async () => {
    const where = place();
    write(where.stateDir, { "approvals.json": `{"version":1,"always":[{"pluginId":"asker"}]}` });
    const { logger, lines } = recorder();
    await using host = await openIn(where, NOBODY, logger);
    expect((await run(host)).decision).toBe("block");
    expect(readdirSync(where.stateDir).filter((name) => name.startsWith("approvals.json.broken-"))).toHaveLength(1);
    expect(existsSync(join(where.stateDir, "approvals.json"))).toBe(false);
    expect(lines.filter(({ message }) => message.includes("allowed always is broken"))).toHaveLength(1);
  });

  it("the ledger skips a line that it cannot read, and keeps no parameters", async () => {
    const where = place();
    await using host = await openIn(where, async () => "deny");
    await host.run("before_tool_call", { toolName: "rm", params: { path: "very-private" } });
    await host.approvalLedger();
    const path = join(where.stateDir, "audit/approvals.jsonl");
    expect(readFileSync(path, "utf8")).not.toContain("very-private");
    writeFileSync(path, `${readFileSync(path, "utf8")}\n{"half":`);
    expect(await host.approvalLedger()).toMatchObject([{ resolution: "deny", toolName: "rm" }]);
  });
});
