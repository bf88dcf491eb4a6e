/** process, os and crypto in a cell, where Node's own answer would be wrong. */
import { beforeAll, expect, it } from "vitest";
import { contract, plugin, recorder, sharedHost } from "../../../support/host.ts";

const BODY = `
  const os = require("node:os"), nodeCrypto = require("node:crypto"), { EventEmitter } = require("node:events");
  const jobs = {
    env: () => { process.env.MINE = "1"; return [Object.keys(process.env), process.env.CREEL_TEST_OWN]; },
    world: () => [process.cwd(), os.homedir(), os.tmpdir(), os.hostname(), os.userInfo().username, os.cpus().length, process.pid, process.argv.length, process.stdout.isTTY],
    platform: () => [process.platform, process.arch, os.platform(), os.arch()],
    write: () => { process.stdout.write("out\\n"); process.stderr.write("err"); process.emitWarning("careful", "OldWarning", "DEP1"); },
    on: () => { process.on("exit", () => {}); process.once("SIGTERM", () => {}); return process.listenerCount("exit"); },
    exit: () => process.exit(1),
    cipher: () => nodeCrypto.createCipheriv("aes-256-gcm", "k", "iv"),
    key: () => ({}) instanceof nodeCrypto.KeyObject,
    leak: () => { const e = new EventEmitter(); for (let i = 0; i < 12; i++) e.on("x", () => {}); },
    cd: () => { process.chdir("data/x"); const at = [process.cwd(), require("path").resolve("y")]; process.chdir("/home/plugin"); return at; },
    out: () => process.chdir("/etc"),
    time: () => { const [, nanos] = process.hrtime(); return nanos % 1e6; },
    ticks: async () => { const order = []; process.nextTick(() => { throw new Error("in a tick"); }); process.nextTick(() => order.push("tick")); setTimeout(() => order.push("timer"), 1); Promise.resolve().then(() => order.push("promise")); order.push("turn"); await new Promise((r) => setTimeout(r, 20)); return order; },
    random: () => [nodeCrypto.randomBytes(16).toString("hex"), crypto.randomUUID(), Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex")],
  };
  api.on("message_sending", async (event) => {
    try { return { content: JSON.stringify(await jobs[event.content]() ?? null) }; } catch (error) { return { content: error.message }; }
  });`;

contract("process and its like", (isolation) => {
  const { logger, lines } = recorder();
  beforeAll(() => {
    process.env["CREEL_TEST_GRANTED"] = "yes";
    process.env["CREEL_TEST_SECRET"] = "no";
    return () => {
      delete process.env["CREEL_TEST_GRANTED"];
      delete process.env["CREEL_TEST_SECRET"];
    };
  });

  const shared = sharedHost(isolation, { logger, plugins: [plugin("guest", BODY, { grants: { env: ["CREEL_TEST_GRANTED"] } })] });
  const ask = async (job: string): Promise<unknown> => {
    const { result } = await shared.host.run("message_sending", { to: "x", content: job }, { channelId: "chat" });
    try {
      return JSON.parse(result!.content!) as unknown;
    } catch {
      return result!.content;
    }
  };
  const said = () => lines.flatMap(({ level, fields }) => (fields["text"] === undefined ? [] : [`${level} ${fields["text"] as string}`]));

  it("the environment is what was granted, and the plugin's own to change", async () => {
    expect(await ask("env")).toEqual([["HOME", "USER", "LOGNAME", "TMPDIR", "CREEL_TEST_GRANTED", "MINE"], null]);
    expect(process.env["MINE"]).toBeUndefined();
  });

  it("reveals nothing about the machine but its platform", async () => {
    expect(await ask("world")).toEqual(["/home/plugin", "/home/plugin", "/tmp", "sandbox", "plugin", 1, 1, 2, false]);
    expect(await ask("platform")).toEqual([process.platform, process.arch, process.platform, process.arch]);
    expect(await ask("time")).toBe(0);
  });

  it("logs what is written and warned about; accepts listeners for events that never come, and says so once", async () => {
    await ask("write");
    expect(await ask("on")).toBe(1);
    await ask("on");
    await ask("leak");
    expect(said()).toEqual([
      "info out",
      "warn err",
      "warn [DEP1] OldWarning: careful",
      'warn process.on("exit") has no effect: a plugin\'s cell has no such events',
      "warn MaxListenersExceededWarning: Possible EventEmitter memory leak detected. 11 x listeners added to an EventEmitter. MaxListeners is 10. Use emitter.setMaxListeners() to increase limit",
    ]);
  });

  it("functions that cannot work throw, and name what to use instead", async () => {
    expect(await ask("exit")).toBe(
      "process.exit is not available inside the sandbox: a plugin cannot end what it runs in; return from the handler instead",
    );
    expect(await ask("cipher")).toBe("crypto.createCipheriv is not available inside the sandbox; crypto.subtle is");
    expect(await ask("key")).toBe(false);
  });

  it("the working directory is inside the volume", async () => {
    expect(await ask("cd")).toEqual(["/home/plugin/data/x", "/home/plugin/data/x/y"]);
    expect(await ask("out")).toBe("ENOENT: no such file or directory, chdir /home/plugin -> '/etc'");
  });

  it("ticks come after the turn, before promises and timers, and one that throws stops none of the others", async () => {
    expect(await ask("ticks")).toEqual(["turn", "tick", "promise", "timer"]);
    expect(said().filter((line) => line.includes("in a tick"))).toEqual([expect.stringMatching(/^error unhandled rejection: /)]);
  });

  it("random numbers are new every time, and in every cell", async () => {
    const first = (await ask("random")) as string[];
    const second = (await ask("random")) as string[];
    await shared.host.reload("guest");
    const third = (await ask("random")) as string[];
    expect(new Set([...first, ...second, ...third]).size).toBe(9);
  });
});
