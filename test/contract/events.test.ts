/** Facts: host.on, the diagnostics channels, and log lines with fixed fields that a plugin cannot forge. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { expect, it } from "vitest";
import { pino } from "pino";
import { actor, sending } from "../support/actors.ts";
import { contract, next, open, recorder, replacement, sharedHost } from "../support/host.ts";

contract("facts", (isolation) => {
  const log = recorder();
  const shared = sharedHost(isolation, {
    logger: log.logger,
    plugins: [actor("a", { priority: 3 }), actor("b", { hooks: { cpuMs: 100 } })],
  });

  it("call and run tell of every handler and every run, after it", async () => {
    const calls: unknown[] = [];
    const off = shared.host.on("call", (fact) => calls.push(fact));
    const run = next(shared.host, "run");
    const outcome = await shared.host.run("message_sending", sending({ a: `throw new Error("no")` }), { channelId: "chat" });
    off();
    expect(calls).toMatchObject(outcome.calls.map((call) => ({ runId: outcome.runId, hook: "message_sending", call })));
    const fact = await run;
    expect(fact.outcome).toEqual(outcome);
    expect(fact.wallMs).toBeGreaterThan(0);
  });

  it("a call's costs are numbers that make sense", async () => {
    const { calls } = await shared.host.run(
      "message_sending",
      sending({
        a: `let sum = 0; for (let i = 0; i < 2e7; i++) sum += i % 7; return void sum`,
        b: `async await new Promise((r) => setTimeout(r, 30))`,
      }),
      { channelId: "chat" },
    );
    expect(calls[0]?.cpuMs).toBeGreaterThan(5);
    expect(calls[0]?.wallMs).toBeGreaterThanOrEqual(calls[0]!.cpuMs - 1);
    expect(calls[1]?.wallMs).toBeGreaterThanOrEqual(25);
    expect(calls[1]?.cpuMs).toBeLessThan(20);
  });

  it("a subscription ends when its function is called, and a listener that throws disturbs nobody", async () => {
    const seen: string[] = [];
    const bad = shared.host.on("run", () => {
      throw new Error("listener");
    });
    const off = shared.host.on("run", () => seen.push("good"));
    await shared.host.run("message_sending", sending({}), { channelId: "chat" });
    off();
    bad();
    await shared.host.run("message_sending", sending({}), { channelId: "chat" });
    expect(seen).toEqual(["good"]);
    expect(log.lines.filter(({ message }) => message === "a listener of the host threw")).toHaveLength(1);
  });

  it("log tells which plugin wrote what at which level, in order", async () => {
    const lines: unknown[] = [];
    const off = shared.host.on("log", ({ plugin, level, text }) => lines.push([plugin, level, text]));
    const last = next(shared.host, "log", ({ text }) => text === "last");
    await shared.host.run(
      "message_sending",
      sending({
        a: `console.debug("d"); console.log("l", 1, { x: 1 }, [2], null, undefined); api.logger.warn("w"); console.error(new Error("e").message);`,
        b: `console.log("last")`,
      }),
      { channelId: "chat" },
    );
    await last;
    off();
    expect(lines).toEqual([
      ["a", "debug", "d"],
      ["a", "info", `l 1 { x: 1 } [ 2 ] null undefined`],
      ["a", "warn", "w"],
      ["a", "error", "e"],
      ["b", "info", "last"],
    ]);
  });

  it.each([
    ["newlines", `"a\\n{\\"level\\":60}\\r\\nb"`],
    ["ANSI colours and cursor moves", `"a\\u001b[31m\\u001b[2Jb\\u009b1mb"`],
    ["other control characters", `"a\\u0000\\u0007\\u0008\\u007fb"`],
    ["line separators and text direction marks", `"a\\u2028\\u2029\\u202e\\u2066b"`],
  ])("a log line cannot be forged with %s", async (_, literal) => {
    const line = next(shared.host, "log", ({ text }) => text.startsWith("a"));
    await shared.host.run("message_sending", sending({ a: `console.log(${literal})` }), { channelId: "chat" });
    const { text } = await line;
    // oxlint-disable-next-line no-control-regex -- that is the point
    expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/);
    expect(text).toMatch(/b$/);
  });

  it("neither can an error's message or a diagnostic", async () => {
    const { calls } = await shared.host.run("message_sending", sending({ a: `throw new Error("x\\n\\u001b[31mFORGED")` }), {
      channelId: "chat",
    });
    expect(calls[0]?.error?.message).toBe("the handler threw: x [31mFORGED");
    await using host = await open(isolation, {
      plugins: [
        {
          id: "p",
          source: `export default { id: "x\\n\\u001b[31m", name: "n\\nm", register(api) { api.on("no\\nhook\\u001b[31m", () => {}); } };`,
        },
      ],
    });
    const { diagnostics, name } = host.inspect("p");
    // oxlint-disable-next-line no-control-regex -- that is the point
    expect([...diagnostics, name].join(" ")).not.toMatch(/[\u0000-\u001f]/);
  });

  it("a long line is cut, and too many lines of one turn are counted", async () => {
    const texts: string[] = [];
    const off = shared.host.on("log", ({ text }) => texts.push(text));
    const dropped = next(shared.host, "log", ({ text }) => text.includes("dropped"));
    await shared.host.run(
      "message_sending",
      sending({ a: `console.log("x".repeat(1e5)); for (let i = 1; i < 250; i++) console.log("y" + i)` }),
      { channelId: "chat" },
    );
    expect((await dropped).text).toMatch(/^50 more log lines/);
    off();
    expect(texts[0]?.length).toBeLessThanOrEqual(4_097);
    expect(texts).toHaveLength(201);
  });

  it("replaced tells of a cell that was rebuilt, and why", async () => {
    const replaced = replacement(shared.host);
    const outcome = await shared.host.run("message_sending", sending({ b: `for (;;);` }), { channelId: "chat" });
    expect(outcome.calls[1]).toMatchObject({ status: "cpu", error: { code: "ERR_CALL_CPU" } });
    expect(await replaced).toMatchObject({ plugin: "b", why: expect.stringContaining("100 ms of CPU time") });
    expect(log.lines.findLast(({ message }) => message === "a cell was replaced")).toMatchObject({
      level: "warn",
      fields: { plugin: "b" },
    });
  });

  it("failures are logged as warnings with fixed fields", async () => {
    const outcome = await shared.host.run("message_sending", sending({ a: `throw new Error("logged")` }), { channelId: "chat" });
    expect(log.lines.at(-1)).toEqual({
      level: "warn",
      message: "a handler failed",
      fields: {
        plugin: "a",
        hook: "message_sending",
        runId: outcome.runId,
        status: "failed",
        code: "ERR_CALL_FAILED",
        at: expect.anything(),
        error: "the handler threw: logged",
      },
    });
  });

  it("pino writes one line of JSON per fact", async () => {
    const written: string[] = [];
    const logger = pino({ level: "debug", base: null }, { write: (line: string) => written.push(line) });
    await using host = await open(isolation, { logger, plugins: [actor("a")] });
    const line = next(host, "log");
    await host.run("message_sending", sending({ a: `console.warn("a\\nb"); throw new Error("no")` }), { channelId: "chat" });
    await line;
    const lines = written.map((text) => JSON.parse(text) as Record<string, unknown>);
    expect(lines.every((_, i) => written[i]!.endsWith("\n") && written[i]!.indexOf("\n") === written[i]!.length - 1)).toBe(true);
    expect(lines).toContainEqual(expect.objectContaining({ level: 30, plugin: "a", status: "ready", msg: "plugin state" }));
    expect(lines).toContainEqual(expect.objectContaining({ level: 40, plugin: "a", text: "a b", msg: "plugin log" }));
    expect(lines).toContainEqual(expect.objectContaining({ level: 40, plugin: "a", hook: "message_sending", msg: "a handler failed" }));
  });

  it("facts are on diagnostics channels named creel:<kind>, and each names its host", async () => {
    const kinds = ["call", "run", "log", "replaced"] as const;
    const heard = new Map<string, Record<string, unknown>>();
    const listeners = kinds.map((kind) => {
      const listener = (message: unknown): void => {
        if ((message as { host?: string }).host === shared.host.id) heard.set(kind, message as Record<string, unknown>);
      };
      subscribe(`creel:${kind}`, listener);
      return () => unsubscribe(`creel:${kind}`, listener);
    });
    const replaced = replacement(shared.host);
    const line = next(shared.host, "log");
    const outcome = await shared.host.run("message_sending", sending({ a: `console.log("hi")`, b: `for (;;);` }), { channelId: "chat" });
    await Promise.all([replaced, line]);
    for (const off of listeners) off();
    expect([...heard.keys()].toSorted()).toEqual(["call", "log", "replaced", "run"]);
    expect(heard.get("run")).toMatchObject({ host: shared.host.id, outcome: { runId: outcome.runId } });
    expect(heard.get("log")).toMatchObject({ plugin: "a", text: "hi" });
  });
});

it("restart tells of a sandbox process that died, and plugin tells of its loading again", async () => {
  await using host = await open("process", { plugins: [actor("a")] });
  const [pid] = host.pids();
  const restart = next(host, "restart");
  const ready = next(host, "plugin", ({ status }) => status === "ready");
  process.kill(pid!, "SIGKILL");
  expect(await restart).toMatchObject({
    why: expect.stringMatching(/^the sandbox process was ended by SIGKILL; .* is not known$/),
    lanes: [0],
  });
  expect((await ready).plugin).toBe("a");
  expect(host.pids()[0]).not.toBe(pid);
});
