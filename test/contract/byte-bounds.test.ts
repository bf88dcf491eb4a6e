/** Every text that crosses between a cell and the host is bounded in bytes before it is sent: what is too long fails by name, and no link or sandbox goes with it. */
import { expect, it } from "vitest";
import { LIMITS } from "../../src/protocol/limits.ts";
import { actor, sending, toolCall } from "../support/actors.ts";
import { contract, next, open, plugin, statuses } from "../support/host.ts";

const CHAT = { channelId: "chat" };
const BUDGET = { timeoutMs: 10_000, cpuMs: 2_000 };
/** Three bytes each. */
const euros = (count: number): string => `"\\u20ac".repeat(${count})`;

/** Handlers that each add a text as long as a result may be. */
const grower = (from: number, handlers: number): string =>
  `const text = "x".repeat(${LIMITS.call.resultBytes - 100}); for (let i = 0; i < ${handlers}; i++) api.on("before_tool_call", () => ({ params: { ["p${from}_" + i]: text } }), { priority: ${100 - 10 * from} - i });`;
const GUARD = plugin("guard", `api.on("before_tool_call", () => ({ block: true, blockReason: "guard" }));`, { hooks: BUDGET });

contract("texts that are longer in bytes than in characters", (isolation) => {
  it.each([
    [
      "a list of keys",
      `api.kv.getMany(Array(720).fill(${euros(10_000)}))`,
      'ERR_SERVICE_ARGUMENT the argument of kv.get is not valid at "keys": it has 720 keys, the limit is 128',
    ],
    ["an address", `fetch(${euros(7_300_000)})`, "ERR_FETCH_URL the URL has 7300000 characters, the limit is 8192"],
    [
      "a body",
      `fetch("https://a.example", { method: "POST", body: ${euros(7_300_000)} })`,
      "ERR_FETCH_REQUEST_SIZE the request's body has more than 1048576 bytes",
    ],
  ])("a request with %s of millions of characters is refused in the plugin, and nothing is restarted", async (_, request, refusal) => {
    const asks = `api.on("message_sending", async () => { try { await ${request}; } catch (error) { return { content: error.code + " " + error.message }; } });`;
    await using host = await open(isolation, {
      plugins: [plugin("asks", asks, { hooks: BUDGET }), actor("good", { on: ["before_tool_call"] })],
    });
    const restarts: unknown[] = [];
    host.on("restart", (fact) => restarts.push(fact));
    const { result } = await host.run("message_sending", sending({}), CHAT);
    expect(result?.content?.slice(0, refusal.length)).toBe(refusal);
    expect(statuses(await host.run("before_tool_call", toolCall({ good: "" })))).toEqual(["good:ok"]);
    expect(restarts).toEqual([]);
  });

  it("a result of more bytes than it may have is its handler's failure, whether it comes at once or later", async () => {
    await using host = await open(isolation, { plugins: [actor("bad", { hooks: BUDGET })] });
    const body = `return { content: ${euros(LIMITS.call.resultBytes / 2)} }`;
    for (const code of [body, `async await 0; ${body}`]) {
      const { calls } = await host.run("message_sending", sending({ bad: code }), CHAT);
      expect(calls[0]).toMatchObject({ status: "failed", error: { code: "ERR_CALL_RESULT_SIZE" } });
      expect(calls[0]?.error?.message).toContain(`the limit is ${LIMITS.call.resultBytes}`);
    }
  });

  it("results that add up to an event that is too long are the failure of the plugin whose result is one too many, also across lanes", async () => {
    const growers = Array.from({ length: 5 }, (_, at) => plugin(`grows-${at}`, grower(at, 2), { hooks: BUDGET }));
    await using host = await open(isolation, { lanes: 2, plugins: [...growers, GUARD] });
    const restarts: unknown[] = [];
    host.on("restart", (fact) => restarts.push(fact));
    const outcome = await host.run("before_tool_call", toolCall({}));
    expect(outcome).toMatchObject({ decision: "block", by: "grows-4" });
    const failed = outcome.calls.find(({ status }) => status === "failed");
    expect(failed).toMatchObject({ plugin: "grows-4", error: { code: "ERR_CALL_EVENT_GROWTH" } });
    expect(failed?.error?.message).toContain(`the limit is ${LIMITS.call.eventBytes}`);
    expect(restarts).toEqual([]);
    expect(host.inspect("guard").circuit.points).toBe(0);
  });

  it("many handlers of one plugin cannot make an event so long that the next plugin fails at it: their results are bounded in total", async () => {
    await using host = await open(isolation, { plugins: [plugin("grows", grower(0, 9), { hooks: BUDGET }), GUARD] });
    const outcome = await host.run("before_tool_call", toolCall({}));
    expect(outcome).toMatchObject({ decision: "block", by: "grows" });
    expect(outcome.calls.map(({ status }) => status).slice(0, 3)).toEqual(["ok", "ok", "failed"]);
    expect(outcome.calls[2]?.error?.code).toBe("ERR_CALL_RESULTS_SIZE");
    expect(host.inspect("guard").circuit.points).toBe(0);
  });

  it("a plugin that registers more than a frame holds fails by name, and its neighbour is loaded", async () => {
    const many = `for (let i = 0; i < 200; i++) api.registerTool({ name: "tool" + i, description: ${euros(20_000)}, parameters: { type: "object" }, execute: () => ({ content: [] }) });`;
    await using host = await open(isolation, {
      allowFailed: true,
      plugins: [plugin("many", many, { limits: { heapMb: 256 } }), actor("good", { on: ["message_sending"] })],
    });
    expect(host.inspect("many")).toMatchObject({ status: "failed", error: { code: "ERR_PLUGIN_REGISTRATION" } });
    expect(host.inspect("many").error?.message).toContain(`more than ${LIMITS.call.eventBytes} bytes`);
    expect(host.inspect("good").status).toBe("ready");
  });

  it("a plugin that asks on and on is refused in its lane, and is told the limit", async () => {
    const asks = `api.on("message_sending", async () => { let refused; const all = []; for (let i = 0; i < ${LIMITS.lane.requestsPerSecond + 64}; i++) all.push(api.kv.get("k").catch((error) => { refused ??= error.code; })); await Promise.all(all); return { content: String(refused) }; });`;
    await using host = await open(isolation, {
      plugins: [plugin("asks", asks, { hooks: BUDGET, limits: { hostCalls: 100_000, pendingCalls: 10 } })],
    });
    const { result } = await host.run("message_sending", sending({}), CHAT);
    expect(["ERR_SERVICE_FLOOD", "ERR_SERVICE_BUSY", "undefined"]).toContain(result?.content);
  });
});

it("memory that a plugin takes in sips is blamed on it, and not on the plugin that was executing when the process had become too large", async () => {
  const sips = `const keep = []; let i = 0; const locales = ["de", "en", "fr", "ja", "zh", "ar", "ru", "th"];
    const grow = () => { const end = Date.now() + 6; while (Date.now() < end) keep.push(new Intl.DateTimeFormat(locales[i++ % 8] + "-u-ca-buddhist", { dateStyle: "full", timeStyle: "full" })); setTimeout(grow, 2); };
    setTimeout(grow, 100);`;
  const innocent = `api.on("message_sending", () => { const end = Date.now() + 40; while (Date.now() < end); });`;
  await using host = await open("process", {
    config: { sandbox: { memoryMb: 320 } },
    plugins: [plugin("sips", sips, { limits: { heapMb: 512 } }), plugin("innocent", innocent, { hooks: BUDGET })],
  });
  const restart = next(host, "restart");
  const restarts: unknown[] = [];
  host.on("restart", (fact) => restarts.push(fact));
  while (restarts.length === 0) await host.run("message_sending", sending({}), CHAT);
  const fact = await restart;
  expect(fact.why).toContain("MB of memory");
  expect(fact.culprit).toBe("sips");
  expect(host.inspect("innocent").circuit).toMatchObject({ state: "closed", points: 0 });
});
