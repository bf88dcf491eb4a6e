/** The real plugin in the real sandbox: what it blocks, what it remarks on, and that a broken guard blocks, too. */
import { openHost } from "creel";
import type { Catalog, EventOf, Host } from "creel";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

type Install = EventOf<Catalog["before_install"]>;
type Finding = Install["builtinScan"]["findings"][number];

const finding = (severity: Finding["severity"], message: string): Finding => ({
  ruleId: "x",
  severity,
  file: "index.js",
  line: 7,
  message,
});
const count = (findings: Finding[], severity: string) => findings.filter((found) => found.severity === severity).length;
const install = (findings: Finding[], specifier?: string): Install => ({
  targetType: "plugin",
  targetName: "weather",
  sourcePath: "/staging/weather",
  sourcePathKind: "directory",
  request: { kind: "plugin-npm", mode: "install", ...(specifier && { requestedSpecifier: specifier }) },
  builtinScan: {
    status: "ok",
    scannedFiles: 3,
    critical: count(findings, "critical"),
    warn: count(findings, "warn"),
    info: count(findings, "info"),
    findings,
  },
});

/** Who decides about installs decides about all of them: it must be allowed. */
const hooks = { allowInstallDecisions: true };

describe.each(["thread", "process"] as const)("install-guard, %s isolation", (isolation) => {
  let host: Host;

  beforeAll(async () => {
    host = await openHost({ isolation, lanes: 1, plugins: [{ path: import.meta.dirname, hooks }], logger: pino({ level: "silent" }) });
  });
  afterAll(() => host.close());

  const ask = (event: Install) => host.run("before_install", event, { targetType: "plugin", requestKind: "plugin-npm" });

  it("blocks on a critical finding, and says which", async () => {
    expect(await ask(install([finding("warn", "uses eval"), finding("critical", "runs a shell")]))).toMatchObject({
      decision: "block",
      by: "install-guard",
      reason: "weather has 1 critical finding: runs a shell (index.js:7)",
    });
  });

  it("blocks when the scan counts critical findings that its list leaves out", async () => {
    const event = install([]);
    const outcome = await ask({ ...event, builtinScan: { ...event.builtinScan, critical: 2 } });
    expect(outcome).toMatchObject({ decision: "block", reason: "weather has 2 critical findings" });
  });

  it("lets lesser findings pass", async () => {
    expect(await ask(install([finding("warn", "uses eval")]))).toMatchObject({ decision: "pass", result: { findings: [] } });
  });

  it.each([
    ["weather", 1],
    ["weather@latest", 1],
    ["weather@^1.2.3", 1],
    ["weather@1.2.3", 0],
    ["@scope/weather@1.2.3-beta.1", 0],
  ])("of the specifier %j it makes %d findings", async (specifier, remarks) => {
    const { decision, result } = await ask(install([], specifier));
    expect(decision).toBe("pass");
    expect(result?.findings?.map(({ ruleId }) => ruleId)).toEqual(Array(remarks).fill("install-guard/not-pinned"));
  });

  it("remarks on a scan that did not finish", async () => {
    const event = install([]);
    const { result } = await ask({ ...event, builtinScan: { ...event.builtinScan, status: "error", error: "out of memory" } });
    expect(result?.findings).toMatchObject([{ ruleId: "install-guard/not-scanned", message: "the scan did not finish: out of memory" }]);
  });

  it("keeps its findings when another plugin blocks, and a guard that throws blocks by itself", async () => {
    const broken = { id: "broken", source: `export default (api) => api.on("before_install", () => { throw new Error("down"); });` };
    await using both = await openHost({
      isolation,
      lanes: 1,
      plugins: [
        { path: import.meta.dirname, hooks },
        { ...broken, hooks },
      ],
      logger: pino({ level: "silent" }),
    });
    const outcome = await both.run("before_install", install([], "weather"), { targetType: "plugin", requestKind: "plugin-npm" });
    expect(outcome).toMatchObject({ decision: "block", by: "broken", reason: expect.stringContaining("down") });
    expect(outcome.result?.findings).toHaveLength(1);
  });
});
