/** A gateway developer's first hour with the packed package (D1 to D9 of the report): programs, run as they would type them. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { write } from "../support/files.ts";
import { Person } from "./person.ts";

const ROOT = join(import.meta.dirname, "../..");
const OPEN = `lanes: 1, isolation: "thread"`;

describe("a gateway developer", { timeout: 90_000 }, () => {
  let me: Person;
  beforeAll(async () => {
    me = await Person.begin({ "package.json": `{ "type": "module" }` });
  }, 120_000);
  /** The last line that a program prints, as JSON; or its error. */
  const program = async (code: string): Promise<unknown> => {
    writeFileSync(
      join(me.home, "main.js"),
      `import { defineHook, openHost, z } from "creel";\nconst say = (value) => console.log(JSON.stringify(value));\n${code}`,
    );
    const { code: ended, out, err } = await me.run(process.execPath, ["main.js"]);
    return ended === 0 ? (JSON.parse(out.trim().split("\n").at(-1)!) as unknown) : err;
  };
  const failure = (options: string) =>
    program(
      `await openHost(${options}).then((host) => host.close(), (error) => say({ code: error.code, message: error.message, fix: error.fix }));`,
    );

  it("has the first block decision with the lines of the README", async () => {
    const [, lines = ""] = /## First block decision\n\n```ts\n([^]*?)```/.exec(readFileSync(join(ROOT, "README.md"), "utf8")) ?? [];
    // As `npm init -y` has written it.
    write(join(me.home, "fresh"), { "package.json": `{ "type": "commonjs" }`, "first.mts": lines });
    expect((await me.run(process.execPath, ["first.mts"], join(me.home, "fresh"))).out.trim()).toBe("block no-rm no rm -rf");
  });

  it("D1 cannot open a host with a guard that does not load", async () => {
    expect(await failure(`{ ${OPEN}, plugins: [{ id: "broken-guard", source: "export default {{{" }] }`)).toMatchObject({
      message: expect.stringContaining("broken-guard"),
    });
  });

  it.each([
    [`{ plugin: [] }`, 'did you mean "plugins"?'],
    [`{ ${OPEN}, plugins: ["./guard.ts"] }`, 'such as { path: "./guard.ts" }'],
    [`{ lanes: "4" }`, "write, for example, lanes: 2"],
    [`{ isolation: "proces" }`, 'write, for example, isolation: "process"'],
    [`{ ${OPEN}, logger: {} }`, "write, for example, logger: pino()"],
    [`{ ${OPEN}, gateway: { requestApproval: true } }`, "gateway: { requestApproval:"],
    [`{ connect: 7 }`, "write, for example, connect:"],
  ])("D2 D5 is told which option of %s is wrong, with an example", async (options, words) => {
    expect(await failure(options)).toMatchObject({ code: "ERR_HOST_OPTIONS", message: expect.stringContaining(words) });
  });

  it("D3 imports it without loading the host", async () => {
    const count = `const { registerHooks } = await import("node:module"); let n = 0; registerHooks({ load(url, context, next) { n += url.startsWith("file:"); return next(url, context); } }); await import("creel"); console.log(n);`;
    const { out } = await me.run(process.execPath, ["--input-type=module", "-e", count]);
    expect(Number(out)).toBeGreaterThan(0);
    expect(Number(out)).toBeLessThanOrEqual(150);
  });

  it("D4 forgets to close the host, and is told so", async () => {
    const sentence = "the program has nothing left to do, but a Creel host is still open";
    const code = `import { openHost } from "creel"; await openHost({ lanes: 1, config: { sandbox: { spare: false } }, logger: new Proxy({}, { get: () => (_, text) => { if (String(text).includes("nothing left to do")) { console.log(text); process.exit(); } } }) });`;
    expect((await me.run(process.execPath, ["--input-type=module", "-e", code])).out).toContain(sentence);
  });

  it("D6 answers plugins with functions that are not async, and needs no zod of their own", async () => {
    const source = `export default (api) => { api.on("before_tool_call", async () => ({ params: await api.session.get("k") })); };`;
    const made = `defineHook({ name: "ping", kind: "observe", summary: "", event: z.object({ n: z.number() }), context: z.object({}) })`;
    const plugins = `[{ id: "a", source: ${JSON.stringify(source)}, grants: { session: ["get"] } }]`;
    const code = `const host = await openHost({ ${OPEN}, hooks: { ping: ${made} }, plugins: ${plugins}, gateway: { getSession: (key) => ({ sessionId: key, updatedAt: 1 }) } });
host.emit("ping", { n: 1 });
say((await host.run("before_tool_call", { toolName: "t", params: {} })).result.params.sessionId);
await host.close();`;
    expect(await program(code)).toBe("k");
  });

  it("D6 reads a type error about one hook, not about the catalog", async () => {
    const wrong = [
      `host.emit("agent_end", { messages: [], succes: true });`,
      `host.emit("before_tool_call", { toolName: "a", params: {} });`,
      `host.runSync("message_sending", { to: "x", content: "y" });`,
      `void host.run("message_sending", { to: "a" });`,
    ];
    writeFileSync(join(me.home, "wrong.mts"), `import { openHost } from "creel";\nconst host = await openHost({});\n${wrong.join("\n")}\n`);
    const types = ["--types", "node", "--typeRoots", join(ROOT, "node_modules/@types")];
    const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--lib", "es2024,esnext.disposable", ...types];
    const { out } = await me.run(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), ...options, "wrong.mts"]);
    const errors = out.trim().split("\n");
    expect(errors.map((line) => line.slice(0, line.indexOf(",")))).toEqual(wrong.map((_, at) => `wrong.mts(${at + 3}`));
    expect(errors[0]).toContain("'success' is missing");
    expect(errors[2]).toContain('"before_message_write" | "tool_result_persist"');
    expect(out).not.toMatch(/Zod|HookDefinition/);
  });

  it("D7 D8 D9 sees mistakes in a test without plugins: garbage events, unknown hooks, a gate that is emitted, a context that contradicts", async () => {
    const code = `const host = await openHost({ ${OPEN}, strict: true });
const failed = async (work) => { try { await work(); return "none"; } catch (error) { return error.code; } };
say([
  await failed(() => host.run("before_tool_call", { tool: 1 })),
  await failed(() => host.emit("gateway_strt", {})),
  await failed(() => host.emit("before_tool_call", { toolName: "t", params: {} })),
  await failed(() => host.run("before_tool_call", { toolName: "a", params: {} }, { toolName: "b" })),
  await failed(() => host.run("before_tool_call", { toolName: "a", params: {} })),
]);
await host.close();`;
    expect(await program(code)).toEqual(["ERR_EVENT_INVALID", "ERR_HOOK_UNKNOWN", "ERR_HOOK_KIND", "ERR_CONTEXT_INVALID", "none"]);
  });

  it("ends within its own time on SIGTERM, and leaves no process behind", async () => {
    const code = `import { openHost } from "creel"; const host = await openHost({ lanes: 1 }); const pids = host.pids(); process.once("SIGTERM", () => host.close().then(() => console.log(JSON.stringify(pids)))); process.kill(process.pid, "SIGTERM");`;
    const { code: ended, out } = await me.run(process.execPath, ["--input-type=module", "-e", code]);
    expect(ended).toBe(0);
    for (const pid of JSON.parse(out) as number[]) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });
});
