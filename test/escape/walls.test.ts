/**
 * The walls around the sandbox process, tried from inside: a probe is started by the very plan that starts a sandbox, and does what
 * somebody would do who has taken that process over. Each test names the layer that it holds. A layer that cannot be built on
 * this machine has to say why; the others are tested all the same.
 */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WRAPPERS } from "../../src/host/supervisor/launch/wrappers.ts";
import { probeWalls } from "../../src/host/supervisor/launch/probe.ts";
import { wallsWanted } from "../../src/host/supervisor/launch/plan.ts";
import type { LayerName, WallsPlan } from "../../src/host/supervisor/launch/plan.ts";
import { folder } from "../support/files.ts";
import { machineWith } from "../support/walls.ts";
import type { Report, Targets } from "./fixtures/probe.ts";

const PROBE = fileURLToPath(new URL("fixtures/probe.ts", import.meta.url));
const SECRET = "s3cr3t-of-the-gateway";
const machine = machineWith(PROBE);

let servers: Server[];
let targets: Targets;
beforeAll(async () => {
  const outside = folder({ secret: SECRET });
  servers = [createServer(), createServer()];
  const [tcp, path] = servers;
  tcp!.listen(0, "127.0.0.1");
  path!.listen(join(outside, "socket"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  targets = {
    port: (tcp!.address() as AddressInfo).port,
    socket: join(outside, "socket"),
    secret: join(outside, "secret"),
    folder: outside,
    own: join(machine.files.home, "written-by-a-test"),
    gateway: process.pid,
  };
});
afterAll(() => servers.forEach((server) => server.close()));

async function probe({ command, args, cwd, env }: WallsPlan): Promise<Report> {
  const { stdout } = await promisify(execFile)(command, [...args, PROBE, JSON.stringify(targets)], { cwd, env, timeout: 20_000 });
  return JSON.parse(stdout) as Report;
}

/** What the kernel keeps, by layer: it holds on every thread, whatever Node itself would allow. */
const KERNEL = {
  network: ["connect"],
  files: [
    "connect to a path",
    "read a secret",
    "read a system file",
    "read through /proc",
    "read through its own thread",
    "read through the first process",
    "list a folder",
    "write",
    "write at home",
    "write at the root",
    "run",
  ],
  processes: ["signal the gateway"],
} as const satisfies Partial<Record<LayerName, string[]>>;
const KERNEL_LAYERS = Object.keys(KERNEL) as (keyof typeof KERNEL)[];

type Annotate = (text: string) => unknown;

/** What went wrong with a layer: `look` finds it where the layer is on; one that is off has to say why, and what can be done. */
function gaps(plan: WallsPlan, name: LayerName, annotate: Annotate, look: () => string[]): string[] {
  const { isOn, why, fix } = plan.layers.find((layer) => layer.name === name)!;
  if (isOn) return look();
  void annotate(`${name} is off here: ${why}`);
  return [why, fix].some((text) => !text) ? [`${name} is off, and does not say why and what to do`] : [];
}

/** Attempts of these that did not fail, on any thread. */
function succeeded({ main, thread, freed }: Report, names: readonly string[]): string[] {
  return Object.entries({ main, thread, freed }).flatMap(([where, attempts]) =>
    names.filter((name) => attempts[name]?.startsWith("did it") ?? true).map((name) => `${where}, ${name}: ${attempts[name]}`),
  );
}

/** What Node's permission model lets pass, on the main thread and on one like a lane's. A thread that was told to forget it is not held. */
function permitted({ main, thread }: Report): string[] {
  const names = ["read a secret", "read a system file", "read through /proc", "list a folder", "write", "write at home", "run", "run Node"];
  return [main, thread].flatMap((attempts) => names.filter((name) => attempts[name] !== "ERR_ACCESS_DENIED"));
}

describe("without walls", () => {
  it("the probe does what it tries, so that its failures below mean something", async () => {
    const { main, thread } = await probe(await probeWalls(machine, wallsWanted({ walls: "none" })));
    for (const attempts of [main, thread]) {
      const ways = ["connect", "connect to a path", "read a secret", "list a folder", "write", "write at home", "run", "run Node", "proto"];
      for (const name of [...ways, "signal the gateway"]) expect(`${name}: ${attempts[name]}`).toContain("did it");
      expect(attempts["read a secret"]).toContain(SECRET);
    }
  });
});

describe.each(WRAPPERS)("behind %s, with nothing of Node's", (wrapper) => {
  const tools = Object.fromEntries(
    Object.entries(machine.tools).filter(([tool]) => tool === wrapper || !WRAPPERS.some((one) => one === tool)),
  );
  let plan: WallsPlan;
  let report: Report;
  beforeAll(async () => {
    plan = await probeWalls({ ...machine, tools }, wallsWanted());
    report = await probe({ ...plan, args: plan.args.filter((arg) => !/^--(?:permission|allow-)/.test(arg)) });
  });

  it.for(KERNEL_LAYERS)("the layer %s holds on every thread", (name, { annotate }) => {
    expect(gaps(plan, name, annotate, () => succeeded(report, KERNEL[name]))).toEqual([]);
  });
});

describe("with Node's permission model alone, as on a system without namespaces", () => {
  let plan: WallsPlan;
  let report: Report;
  beforeAll(async () => {
    plan = await probeWalls({ ...machine, tools: {} }, wallsWanted());
    report = await probe(plan);
  });

  it("that is on, and the layers that need a wrapper say why they are not", () => {
    expect(plan.layers.filter(({ isOn }) => isOn).map(({ name }) => name)).toEqual(expect.arrayContaining(["permission", "hardening"]));
    for (const name of ["network", "files", "processes", "privileges"])
      expect(plan.layers.find((layer) => layer.name === name)).toMatchObject({
        isOn: false,
        why: expect.stringContaining("not installed"),
      });
  });

  it("files and programs are refused on the main thread and on a lane's, also by a detour through /proc", () => {
    expect(permitted(report)).toEqual([]);
    expect([report.main, report.thread].map((attempts) => attempts["read through its own thread"])).toEqual([
      "ERR_ACCESS_DENIED",
      "ERR_ACCESS_DENIED",
    ]);
  });
});

describe("in the best walls of this machine", () => {
  let plan: WallsPlan;
  let report: Report;
  beforeAll(async () => {
    plan = await probeWalls(machine, wallsWanted());
    report = await probe(plan);
  });

  it.for(KERNEL_LAYERS)("the layer %s holds, with Node's permission model and without", (name, { annotate }) => {
    expect(gaps(plan, name, annotate, () => succeeded(report, KERNEL[name]))).toEqual([]);
  });

  it("the layer network: there is no interface", ({ annotate }) => {
    expect(gaps(plan, "network", annotate, () => report.freed.interfaces!.replace("did it: ", "").split(",").filter(Boolean))).toEqual([]);
  });

  it("the layer permission holds on the main thread and on a lane's", ({ annotate }) => {
    expect(gaps(plan, "permission", annotate, () => permitted(report))).toEqual([]);
  });

  it("the layer hardening: Node's realm has no __proto__", ({ annotate }) => {
    const found = [report.main, report.thread].flatMap(({ proto }) => (proto === "ERR_PROTO_ACCESS" ? [] : [proto!]));
    expect(gaps(plan, "hardening", annotate, () => found)).toEqual([]);
  });

  it("the layer hardening: Node's realm makes no code out of text, and that is the first thing that process and lanes see to", () => {
    for (const attempts of [report.main, report.thread, report.freed]) expect(attempts["make code"]).toBe("none");
    for (const entry of ["process/main.ts", "lane/thread.ts"])
      expect(readFileSync(join(machine.files.home, entry), "utf8")).toMatch(
        /^\/\*\*[^]*?\*\/\nimport "\.{1,2}\/(?:process\/)?no-eval\.ts";\n/,
      );
  });

  it("the layer environment: there is nothing but the time zone, and the folder's name where the wrapper leaves it", () => {
    const { TZ, ...rest } = JSON.parse(report.main.environment!.replace("did it: ", "")) as Record<string, string>;
    expect(new Intl.DateTimeFormat(undefined, { timeZone: TZ! }).resolvedOptions().timeZone).toBe(
      new Intl.DateTimeFormat().resolvedOptions().timeZone,
    );
    expect(Object.entries(rest).filter(([name, value]) => name !== "PWD" || value !== machine.files.home)).toEqual([]);
    expect(report.thread.environment).toBe("did it: {}");
  });

  it("every layer that is off says why", () => {
    for (const { isOn, why, by } of plan.layers) expect(isOn ? by : why).toMatch(/\w/);
  });
});
