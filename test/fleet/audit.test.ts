/** The audit logs of a fleet's hosts on real NATS servers: each line arrives once and in order, whatever is killed, and what is missing is said. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Bus } from "../../src/fleet/bus.ts";
import type { AuditReader } from "../../src/fleet/audit/reader.ts";
import type { Shipped } from "../../src/fleet/audit/reader.ts";
import { readCursor, writeCursor } from "../../src/fleet/audit/cursor.ts";
import { Shipper } from "../../src/fleet/audit/shipper.ts";
import { Operator } from "../../src/fleet/control/operator.ts";
import { makeSigningKey } from "../../src/fleet/control/signature.ts";
import { connectNats } from "../../src/fleet/nats.ts";
import { LOGS, SUBJECTS } from "../../src/fleet/subjects.ts";
import { AUDIT_FOLDER, AuditFile, auditFiles } from "../../src/host/audit/audit-file.ts";
import { folder, QUICK } from "../support/files.ts";
import { startHostProcess } from "../support/fleet-failures.ts";
import { settingsOf } from "../support/fleet.ts";
import { plugin, silent } from "../support/host.ts";
import { keysOf, Nats, noNats } from "../support/nats.ts";

const GUARD = plugin("guard", `api.on("before_tool_call", ({ params }) => ({ block: true, blockReason: "no " + params.n }));`);

/** Lines of a state folder's log, as they are in its files. */
function linesIn(stateDir: string): string[] {
  const dir = join(stateDir, AUDIT_FOLDER);
  const files = ["runs", "state"].flatMap((name) => auditFiles(readdirSync(dir), name));
  return files.flatMap((file) => readFileSync(join(dir, file), "utf8").split("\n").filter(Boolean));
}

async function all(reader: AuditReader): Promise<Shipped[]> {
  const found: Shipped[] = [];
  for await (const shipped of reader.lines()) found.push(shipped);
  return found;
}

describe.skipIf(noNats !== undefined)("the audit logs of a fleet", () => {
  const [one, two, three] = ["one", "two", "three"].map((name) => keysOf(name, "host")) as [Keys, Keys, Keys];
  const [boss, gate] = [keysOf("boss", "operator"), keysOf("gate", "gateway")];
  const operators = [makeSigningKey().publicKey];
  const children = new Map<string, ChildProcess>();
  let nats: Nats;
  let bus: Bus;
  let gateway: Bus;
  let operator: Operator;
  const kill = async (name: string): Promise<void> => {
    const child = children.get(name)!;
    child.kill("SIGKILL");
    if (child.signalCode === null) await once(child, "exit");
  };

  beforeAll(async () => {
    nats = await Nats.start({ acme: [one, two, three, boss, gate] });
    bus = await connectNats(nats.accessOf(boss));
    gateway = await connectNats(nats.accessOf(gate));
    operator = await Operator.listen(bus);
    await operator.makeAudit(1, 1);
  }, 60_000);
  afterAll(async () => {
    for (const child of children.values()) child.kill("SIGKILL");
    await operator?.[Symbol.asyncDispose]();
    await gateway?.close();
    await nats?.[Symbol.asyncDispose]();
  });

  it("arrive whole: each line once and in order, while hosts and the server are killed", { timeout: 240_000 }, async () => {
    const root = folder({});
    const hosts = [one, two];
    const start = async (keys: Keys): Promise<void> => {
      const { name } = keys.member;
      children.set(name, await startHostProcess(join(root, name), settingsOf(nats, keys, operators, 1), [GUARD], { hasAudit: true }));
    };
    let n = 0;
    const block = async (host: string): Promise<void> => {
      const params = { hook: "before_tool_call", event: { toolName: "t", params: { n: n++ } } };
      await gateway.request(SUBJECTS.run(host, "gate"), JSON.stringify({ method: "run", params, id: n, offers: [] }), 20_000);
    };
    const stateOf = ({ member }: Keys): string => join(root, member.name, "state");
    await Promise.all(hosts.map(start));
    for (let life = 1; life <= 3; life++) {
      for (let run = 0; run < 10; run++) await Promise.all(hosts.map(({ member }) => block(member.name)));
      const writtenBy = () => hosts.map((keys) => runsOf(linesIn(stateOf(keys))).length);
      await expect.poll(writtenBy, { timeout: 20_000 }).toEqual([10 * life, 10 * life]);
      // The files have them; how many are shipped then is chance.
      await nats.kill();
      await nats.restart();
      await expect.poll(() => bus.isConnected && gateway.isConnected, { timeout: 20_000 }).toBe(true);
      await Promise.all(hosts.map(({ member }) => kill(member.name)));
      await Promise.all(hosts.map(start));
    }
    const reader = operator.audit(0);
    const shipped: Shipped[] = [];
    for (const keys of hosts)
      await expect
        .poll(async () => (shipped.push(...(await all(reader))), runsOf(textsOf(shipped, keys)).length), { timeout: 30_000 })
        .toBe(30);
    // Usage goes on being written: the hosts must be still to compare.
    for (const { member } of hosts) await kill(member.name);
    shipped.push(...(await all(reader)));
    expect(shipped.filter(({ gap }) => gap !== undefined)).toEqual([]);
    for (const keys of hosts) {
      const arrived = textsOf(shipped, keys);
      const inFiles = linesIn(stateOf(keys)).map((line) => JSON.stringify(JSON.parse(line)));
      expect(new Set(arrived).size).toBe(arrived.length);
      expect(runsOf(arrived)).toEqual(runsOf(inFiles));
      expect(inFiles).toEqual(expect.arrayContaining(arrived));
    }
    expect([...reader.missing(operator.hosts())]).toEqual([]);
  });

  it(
    "say what was deleted before it was shipped, what is missing on the way, and that a log begins anew",
    { timeout: 60_000 },
    async () => {
      const stateDir = folder({}, QUICK);
      const log = new AuditFile(stateDir, "runs", 4_000, 4);
      const put = async (from: number, count: number): Promise<void> => {
        for (let at = from; at < from + count; at++)
          await log.append(
            `${JSON.stringify({ v: 1, at: new Date(at).toISOString(), host: "h", pid: 1, kind: "run", runId: `r${at}` })}\n`,
          );
      };
      const host = await connectNats(nats.accessOf(three));
      const reader = operator.audit(0);
      await all(reader);
      const arrived = async (): Promise<(string | undefined)[]> =>
        (await all(reader)).map(({ line, gap }) => gap ?? (line as { runId: string }).runId);
      const ship = async (dir = stateDir): Promise<void> => {
        const shipper = new Shipper(host, dir, "three", silent);
        const before = shipper.state.next;
        shipper.open();
        await expect.poll(() => shipper.state.next, { timeout: 20_000 }).toBeGreaterThan(before);
        await shipper.close();
      };
      await put(0, 2);
      await ship();
      expect(await arrived()).toEqual(["r0", "r1"]);
      // As a host leaves it that is killed after the part has arrived, and before it has noted that.
      const { log: id, places } = readCursor(stateDir);
      const to = places.runs!;
      writeCursor(stateDir, { log: id, next: 0, places: {}, pending: { name: "runs", from: { head: to.head, at: 0 }, to } });
      await ship();
      expect(await arrived()).toEqual([]);
      // More than its size limit keeps.
      await put(2, 100);
      await ship();
      const [gap, ...rest] = await arrived();
      expect(gap).toBe(`the oldest lines were deleted before they were shipped (runs, after ${new Date(1).toISOString()})`);
      expect(rest.length).toBeGreaterThan(0);
      // One part per file.
      while (rest.at(-1) !== "r101") {
        await ship();
        rest.push(...(await arrived()));
      }
      expect(rest).toEqual(Array.from({ length: rest.length }, (_, at) => `r${102 - rest.length + at}`));
      // A part that the servers never had; one that was sent twice, after they had forgotten the first.
      const audit = host.log(LOGS.audit);
      await audit.append(SUBJECTS.audit("three"), part("x", 0, "a"), "1");
      await audit.append(SUBJECTS.audit("three"), part("x", 3, "b"), "2");
      await audit.append(SUBJECTS.audit("three"), part("x", 3, "b"), "3");
      await audit.append(SUBJECTS.audit("three"), "no part", "4");
      expect(await arrived()).toEqual([
        "a new log begins: the host has another state folder than before",
        "a",
        "parts 1 to 2 are missing: they are older than the servers keep, or were lost there",
        "b",
        "a part is not of the form that hosts ship",
      ]);
      expect([...reader.missing([{ host: "three", audit: { log: "x", next: 6 } }])].map(({ gap: why }) => why)).toEqual([
        "parts 4 to 5 are missing: they are older than the servers keep, or were lost there",
      ]);
      await host.close();
    },
  );

  it("cannot be read or written for another by a host, nor deleted by an operator", async () => {
    const forbidden = { code: "ERR_FLEET_FORBIDDEN" };
    const host = await connectNats(nats.accessOf(three));
    await expect(host.log(LOGS.audit).append(SUBJECTS.audit("one"), "x", "y")).rejects.toMatchObject(forbidden);
    await expect(host.log(LOGS.audit).next(0)).rejects.toMatchObject(forbidden);
    for (const api of ["STREAM.DELETE", "STREAM.PURGE", "STREAM.MSG.DELETE", "STREAM.UPDATE"])
      await expect(bus.request(`$JS.API.${api}.${LOGS.audit}`, "{}", 5_000)).rejects.toMatchObject(forbidden);
    await host.close();
  });
});

function part(log: string, n: number, runId: string): string {
  return `${JSON.stringify({ v: 1, log, n })}\n${JSON.stringify({ runId })}`;
}

type Keys = ReturnType<typeof keysOf>;

function textsOf(shipped: readonly Shipped[], { member }: Keys): string[] {
  return shipped.filter(({ host, line }) => host === member.name && line !== undefined).map(({ line }) => JSON.stringify(line));
}

function runsOf(lines: readonly string[]): string[] {
  return lines.filter((line) => line.includes('"kind":"run"'));
}
