/** A call that ran out of CPU time: `explain` names the author's line, an incident file brings it to the author, and `profile` finds it. */
// runs: creel dev ./my-plugin --incident incident.creel
// runs: creel explain h5e81f140-17 --save incident.creel --redact params.command
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { openHost } from "creel";
import type { Host, Outcome } from "creel";
import { openIncident } from "../../../src/cli/incident/open.ts";
import { pastRun } from "../../../src/cli/incident/past-run.ts";
import { terminal } from "../../../src/cli/ui/terminal.ts";
import type { Terminal } from "../../../src/cli/ui/terminal.ts";
import { creelHere } from "../../support/cli-in-process.ts";
import { folder, QUICK } from "../../support/files.ts";
import { hasPty, onTerminal } from "../../support/pty.ts";
import { silent } from "../../support/host.ts";

/** The slow line is line 4 of slow.ts, three calls deep. */
const SLOW = `/** Is it made of letters? */
export function isPlain(text: string): boolean {
  const pattern = /^(a+)+$/;
  return pattern.test(text);
}
`;
const INDEX = `import { isPlain } from "./slow.ts";

function judge(text: string): boolean {
  return !isPlain(text);
}

export default {
  id: "regexes",
  register(api) {
    api.on("before_tool_call", (event) => (judge(String(event.params.command)) ? undefined : { block: true }));
    api.on("message_sending", (event) => { const kept = (globalThis.kept ??= []); for (let i = 0; i < (event.content === "fill" ? Infinity : 20_000); i++) kept.push(new Town(event.content + i)); });
  },
};
class Town { constructor(public name: string) {} }
`;
const event = { toolName: "exec", params: { command: `${"a".repeat(40)}!`, token: "hidden", note: "it is hidden", "x.key": "dotted" } };

const plugin = folder({ "index.ts": INDEX, "slow.ts": SLOW, "creel.plugin.json": `{ "id": "regexes", "main": "index.ts" }` }, QUICK);
const home = folder(
  {
    "creel.json": JSON.stringify({
      stateDir: "state",
      audit: { events: "full" },
      sandbox: { walls: "none", spare: false },
      // To fill the heap takes about as much processor time as a call has.
      plugins: {
        load: { paths: [plugin] },
        entries: { regexes: { hooks: { budgets: { message_sending: { cpuMs: 1_000, timeoutMs: 10_000 } } } } },
      },
    }),
  },
  QUICK,
);
const project = ["--config", join(home, "creel.json")];
const saved = join(home, "incident.creel");

/** Collects what is printed. */
function page(): Terminal & { text: string } {
  const made = { ...terminal(process.stderr), width: 100, text: "", paint: (_: unknown, text: string) => text };
  made.line = (text = "") => void (made.text += `${text}\n`);
  return made;
}

/** The id of a run that fails so. A machine that is too busy may end it for another reason first. */
async function failing(code: RegExp, host: Host, run: () => Promise<Outcome>): Promise<string> {
  const seen: unknown[] = [];
  for (let tries = 0; tries < 5; tries++) {
    const { runId, calls } = await run();
    await host.release("regexes");
    if (code.test(calls[0]!.error?.code ?? "")) return runId;
    seen.push(calls[0]!.error);
  }
  throw new Error(`no call failed with ${code.source}: ${JSON.stringify(seen)}`);
}

describe("a call that ran out of CPU time", { timeout: 120_000 }, () => {
  let runId = "";
  let fullId = "";
  beforeAll(async () => {
    await using host = await openHost({ config: join(home, "creel.json"), lanes: 1, logger: silent });
    runId = await failing(/^ERR_CALL_(?:CPU|TURN)$/, host, () => host.run("before_tool_call", event));
    fullId = await failing(/^ERR_CALL_MEMORY$/, host, () => host.run("message_sending", { to: "me", content: "fill" }, { channelId: "c" }));
  });

  it("is explained with the file and the line where the time went, and a profile that DevTools opens", async () => {
    const { code, out } = await creelHere("explain", runId, ...project);
    expect(code).toBe(0);
    expect(out).toContain("Where the CPU time went");
    expect(out).toMatch(/\d+%.*slow\.ts:4 {2}isPlain/);
    expect(out).toContain("return pattern.test(text);");
    const { profile } = JSON.parse((await creelHere("explain", runId, ...project, "--json")).out) as {
      profile: { plugin: string; path: string; lines: { line: number; share: number }[] };
    };
    expect(profile).toMatchObject({ plugin: "regexes", lines: [{ line: 4 }] });
    expect(profile.lines[0]!.share).toBeGreaterThan(0.5);
    const file = JSON.parse(readFileSync(profile.path, "utf8")) as {
      nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number }; children?: number[] }[];
      samples: number[];
      timeDeltas: number[];
    };
    // What DevTools needs of it: a tree, samples of its nodes, and as many times.
    const ids = new Set(file.nodes.map(({ id }) => id));
    expect(file.samples.length).toBeGreaterThan(10);
    expect(file.samples.every((id) => ids.has(id))).toBe(true);
    expect(file.timeDeltas).toHaveLength(file.samples.length);
    const frame = file.nodes.find(({ callFrame }) => callFrame.functionName === "isPlain")!.callFrame;
    expect([frame.url.endsWith("/slow.ts"), frame.lineNumber]).toEqual([true, 1]);
  });

  it("of memory instead is explained with what it was full of and where; profile writes the snapshot with the command that is printed", async () => {
    const { out } = await creelHere("explain", fullId, ...project);
    expect(out).toContain("What the memory is full of");
    expect(out).toMatch(/\+\d+ {2}Town/);
    expect(out).toMatch(/in .*index\.ts:11/);
    const [, words] = /for a snapshot: creel (.*)/.exec(out)!;
    const file = join(home, "full.heapsnapshot");
    const made = await creelHere(...words!.replace("memory.heapsnapshot", file).split(" "), "--json");
    expect([made.code, made.out]).toEqual([0, expect.stringContaining("isCut")]);
    const { isCut, grew } = JSON.parse(made.out) as { isCut: boolean; grew: { name: string }[] };
    expect([isCut, grew.some(({ name }) => name === "Town")]).toEqual([true, true]);
    expect(JSON.parse(readFileSync(file, "utf8"))).toHaveProperty("snapshot.meta.node_fields");
  });

  it("is not run again with --no-profile", async () => {
    expect((await creelHere("explain", runId, ...project, "--no-profile")).out).not.toContain("Where the CPU time went");
  });

  it("is saved as one file, without what the operator leaves out, and opens as the author's event", async () => {
    const { code, err } = await creelHere(
      "explain",
      runId,
      ...project,
      "--save",
      saved,
      "--redact",
      "params.token",
      "--redact",
      "params.x.key",
    );
    expect(code).toBe(0);
    expect(err).toContain("without params.token, params.x.key");
    const text = readFileSync(saved, "utf8");
    expect(text).not.toMatch(/hidden|dotted/);
    expect(JSON.parse(text)).toMatchObject({
      creelIncident: 1,
      plugin: { id: "regexes", digest: expect.any(String) as string },
      event: { params: { token: "[redacted]", note: "it is [redacted]" } },
    });
    expect(text).toContain("isPlain");
    const shown = page();
    const input = await openIncident(saved, plugin, shown);
    expect(input).toMatchObject({ hook: "before_tool_call", event: { params: { command: event.params.command } } });
    expect(shown.text).toContain("incident");
    expect(shown.text).toContain("it has a CPU profile");
    // It opens at the line where the time went, of the same code.
    expect(shown.text).toContain("▶ 4 │   return pattern.test(text);");
    expect(shown.text).not.toContain("lines may differ");
    expect(text).not.toContain(plugin);
  });

  it("is not saved if a field that is to be left out is misspelt", async () => {
    const file = join(home, "leaky.creel");
    const { code, err } = await creelHere("explain", runId, ...project, "--no-profile", "--save", file, "--redact", "params.tokne");
    expect([code, existsSync(file)]).toEqual([2, false]);
    expect(err).toContain('the event has no field "params.tokne"; did you mean "params.token"?');
    expect(err).toContain("toolName, params, params.command, params.token, params.note, params.x.key");
  });

  it.runIf(hasPty)("is opened by creel dev, which shows the line and runs the event until it is stopped there again", async () => {
    const main = join(import.meta.dirname, "../../../src/cli/main.ts");
    const screen = onTerminal([process.execPath, "-C", "source", main, "dev", plugin, "--incident", saved], {
      cwd: join(import.meta.dirname, "../../.."),
      env: { PATH: process.env.PATH!, NO_COLOR: "1", LANG: "C.UTF-8" },
    });
    await screen.shows("▶ 4 │   return pattern.test(text);");
    await screen.shows("the handler used up its");
    expect(screen.text()).not.toContain("lines may differ");
    screen.hangUp();
  });

  it("is an event for creel dev by its id", async () => {
    expect(await pastRun(join(home, "state"), runId)).toMatchObject({ hook: "before_tool_call", event });
    await expect(pastRun(join(home, "state"), "h00000000-1")).rejects.toThrow("h00000000-1");
  });
});

describe("an incident file", () => {
  it("that is not one is refused, and what it says reaches the terminal without control characters", async () => {
    const wrong = join(home, "wrong.creel");
    for (const text of ["", "{}", '{"creelIncident":1}']) {
      writeFileSync(wrong, text);
      await expect(openIncident(wrong, plugin, page())).rejects.toMatchObject({ code: "ERR_INCIDENT_INVALID" });
    }
    const forged = JSON.parse(readFileSync(saved, "utf8")) as { creel: string; at: string; plugin: { id: string } };
    forged.creel = "1.0\u001b[2J";
    forged.plugin.id = "x\u001b[31m";
    forged.at = "../../../../../../etc/passwd:1:1";
    writeFileSync(wrong, JSON.stringify(forged));
    const shown = page();
    await openIncident(wrong, plugin, shown);
    expect(shown.text).not.toContain("\u001b");
    expect(shown.text).not.toContain("root:");
    expect(shown.text).toContain("! this folder is regexes");
  });
});

describe("creel profile", { timeout: 120_000 }, () => {
  it("names the lines of a call that never ends, and writes the file", async () => {
    const file = join(home, "slow.cpuprofile");
    const { code, out, err } = await creelHere("profile", plugin, "--event", JSON.stringify(event), "--out", file);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/slow\.ts:4 {2}isPlain/);
    expect(out).toContain("then it was stopped");
    expect(JSON.parse(readFileSync(file, "utf8"))).toHaveProperty("nodes");
  });

  it("names the constructors that grew, and writes a snapshot", async () => {
    const file = join(home, "memory.heapsnapshot");
    const args = ["--hook", "message_sending", "--event", '{"to":"me","content":"Ulm"}'];
    const { code, out } = await creelHere("profile", plugin, "--heap", ...args, "--out", file, "--json");
    expect(code).toBe(0);
    const { grew } = JSON.parse(out) as { grew: { name: string; count: number }[] };
    expect(grew.find(({ name }) => name === "Town")).toMatchObject({ count: 20_000 });
    expect(JSON.parse(readFileSync(file, "utf8"))).toHaveProperty("snapshot.meta.node_fields");
  });

  it.each([
    [[], "profile takes one plugin"],
    [["x", "--cpu", "--heap"], "CPU time or of memory"],
    [[folder({ "creel.plugin.json": '{ "id": "quiet" }', "index.js": "export default () => {};" }, QUICK)], "listens to no hook"],
  ])("answers %j with exit code 2", async (args, message) => {
    const { code, err } = await creelHere("profile", ...args);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });
});
