/** The commands of a fleet, as in docs/guides/fleet.md: keys, a cluster of three servers, hosts as processes of their own, one consent, one server killed. */
// runs: creel fleet keys --host web-1 --host web-2 --host web-3 --operator ann --out keys
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, it } from "vitest";
import { creelHere } from "../support/cli-in-process.ts";
import { folder } from "../support/files.ts";
import { putInstalled } from "../support/installed.ts";
import { Nats, noNats } from "../support/nats.ts";

const CLI = join(import.meta.dirname, "../../src/cli/main.ts");
const GREETER = `export default (api) => { api.on("message_sending", (e) => ({ content: e.content + "!" })); };`;

describe.skipIf(noNats !== undefined)("the commands of a fleet", () => {
  const children: ChildProcess[] = [];
  afterAll(() => {
    for (const child of children) child.kill("SIGKILL");
  });

  /** Resolves when it is ready. */
  const serve = async (config: string, socket: string): Promise<void> => {
    const args = ["-C", "source", "--disable-warning=ExperimentalWarning", CLI, "serve", "--fleet", "--json", "--isolation", "thread"];
    const child = spawn(process.execPath, [...args, "--config", config, "--socket", socket], { stdio: ["ignore", "pipe", "ignore"] });
    children.push(child);
    for await (const line of createInterface(child.stdout)) if (line.includes('"ready"')) return;
    throw new Error("the host did not start");
  };

  it("one consent, a line per host, a killed server, a healthy fleet", { timeout: 120_000 }, async () => {
    const root = folder({});
    const out = join(root, "keys");
    const made = await creelHere(
      "fleet",
      "keys",
      "--host",
      "web-1",
      "--host",
      "web-2",
      "--host",
      "web-3",
      "--operator",
      "ann",
      "--out",
      out,
      "--json",
    );
    const { operator } = JSON.parse(made.out) as { operator: string };
    expect((await creelHere("fleet", "keys", "--host", "web-1", "--operator", "ann", "--out", out)).code).toBe(1);
    await using nats = await Nats.withAccounts(readFileSync(join(out, "accounts.conf"), "utf8"), 3);
    const configOf = (name: string, more: object = {}): string => {
      const fleet = { name, servers: nats.urls, credentials: join(out, `${name}.nk`), operators: [operator], audit: {}, ...more };
      mkdirSync(join(root, name), { mode: 0o700 });
      const file = join(root, name, "creel.json");
      writeFileSync(file, JSON.stringify({ stateDir: "state", sandbox: { spare: false, walls: "none" }, fleet }));
      return file;
    };
    const boss = configOf("ann", { signingKey: join(out, "ann.pem") });
    const fleet = async (...args: string[]) => creelHere(...args, "--config", boss);
    await putInstalled(join(root, "ann/state"), "greeter", GREETER);
    const lonely = await fleet("fleet", "push");
    expect([lonely.code, lonely.err, lonely.out]).toEqual([
      1,
      "",
      expect.stringContaining("change 1 is signed and stored, but no host of the fleet is there"),
    ]);
    await Promise.all(["web-1", "web-2", "web-3"].map((name) => serve(configOf(name), join(root, name, "s.sock"))));
    await putInstalled(join(root, "ann/state"), "second", "export default () => {};");
    const installed = await fleet("fleet", "push");
    expect(installed.out).toContain("✓ web-1 has change 2");
    expect(installed.out).toContain("3 of 3 hosts follow change 2");
    expect(installed.code).toBe(0);
    await nats.kill(0);
    const rows = JSON.parse((await fleet("--fleet", "list", "--json")).out) as { host: string; plugins: object[] }[];
    expect(rows).toMatchObject([
      { host: "web-1", serial: 2, plugins: [{ id: "greeter" }, { id: "second" }] },
      { host: "web-2", serial: 2, plugins: [{ id: "greeter" }, { id: "second" }] },
      { host: "web-3", serial: 2, plugins: [{ id: "greeter" }, { id: "second" }] },
    ]);
    expect((await fleet("--fleet", "inspect", "greeter")).out).toContain("web-2: ");
    await expect
      .poll(async () => (await fleet("--fleet", "disable", "greeter")).out + (await fleet("fleet", "push")).out, {
        timeout: 60_000,
        interval: 500,
      })
      .toContain("already has this lock");
    await nats.restart(0);
    const examined = async () =>
      JSON.parse((await fleet("fleet", "doctor", "--json")).out) as { isSound: boolean; checks: { what: string }[] };
    // Servers that have lost one of them choose a leader of the log, which takes seconds.
    const ships = async () => (await examined()).checks.some(({ what }) => what === "3 of 3 hosts ship their audit log");
    await expect.poll(ships, { timeout: 60_000, interval: 500 }).toBe(true);
    const doctor = await examined();
    expect(doctor.isSound).toBe(true);
    expect(doctor.checks.map(({ what }) => what)).toEqual(
      expect.arrayContaining([
        "the lock is kept on 3 of 3 servers",
        "all hosts have the same change of the lock",
        "all hosts have the same configuration",
      ]),
    );
    const shipped = async (...args: string[]) => {
      const { out: text, code } = await fleet("fleet", "audit", "--json", ...args);
      const lines = text.split("\n").filter(Boolean);
      return {
        code,
        parts: lines.map((line) => JSON.parse(line) as { number: number; host: string; line: { kind: string; plugin: string } }),
      };
    };
    const changes = async (...args: string[]) =>
      (await shipped(...args)).parts.filter(({ line }) => line.kind === "plugin").map(({ host, line }) => `${host} ${line.plugin}`);
    await expect.poll(() => changes(), { timeout: 60_000 }).toEqual(expect.arrayContaining(["web-1 greeter", "web-2 greeter"]));
    expect(new Set((await changes("--host", "web-2")).map((change) => change.split(" ")[0]))).toEqual(new Set(["web-2"]));
    const { parts, code } = await shipped();
    expect(code).toBe(0);
    expect((await shipped("--after", String(parts.at(-1)!.number))).parts.filter(({ number }) => number <= parts.at(-1)!.number)).toEqual(
      [],
    );
    expect((await fleet("fleet", "audit")).out).toMatch(/^web-1 \S+Z plugin greeter/m);
  });
});
