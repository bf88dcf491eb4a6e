/** HTTP routes and command lines that a plugin declares, and a gateway serves. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Host } from "creel";
import { contract, open } from "../support/host.ts";

const SOURCE = `
export default (api) => {
  api.registerHttpRoute({ path: "/plugins/p/echo", auth: "plugin", match: "prefix", handler: async (req, res) => {
    if (req.url.endsWith("/other")) return false;
    if (req.url.endsWith("/bytes")) { res.writeHead(200, { "content-type": "image/png" }); res.end(Buffer.from([0, 255, 1])); return true; }
    if (req.url.endsWith("/later")) { setTimeout(() => { res.statusCode = 202; res.end("later"); }, 1); return true; }
    let body = ""; for await (const chunk of req) body += chunk;
    res.setHeader("Set-Cookie", ["a=1", "b=2"]); res.setHeader("x-method", req.method);
    res.statusCode = 201; res.write("got "); res.end(body + " " + req.headers["x-own"]);
  } });
  api.registerHttpRoute({ path: "/plugins/p/broken", auth: "gateway", handler: () => { throw new Error("no"); } });
  api.registerCli(({ program, config, logger }) => {
    const memory = program.command("memory").description("What is kept").option("-v, --verbose", "more");
    memory.command("list [kind]").alias("ls").description("List").option("--limit <n>", "how many", "5").option("--no-color", "plain").requiredOption("--user <id>", "whose")
      .action((kind, options, command) => { console.log(JSON.stringify([kind, options, command.parent.opts()])); console.error("warned"); logger.info("logged"); });
    memory.command("add").argument("<texts...>", "what").action(async (texts) => { await null; console.log(texts.join("+")); process.exit(3); });
    memory.command("fail").action(() => { throw new Error("broken"); });
  }, { commands: ["memory"] });
  api.registerCli(({ program }) => { program.command("second").description("Another").action(() => { process.exitCode = 4; }); });
};`;

contract("HTTP routes and command lines", (isolation) => {
  let host: Host;
  beforeAll(async () => {
    host = await open(isolation, { plugins: [{ id: "p", source: SOURCE }] });
  });
  afterAll(() => host.close());

  const ask = async (url: string, more: object = {}): Promise<unknown> => {
    const route = url.includes("broken") ? "/plugins/p/broken" : "/plugins/p/echo";
    const { value, error } = await host.call({ route }, { method: "GET", url, headers: {}, ...more });
    return error?.message ?? value;
  };
  const run = async (...argv: string[]): Promise<{ exitCode: number; stdout: string; stderr: string }> => {
    const { value, error } = await host.call({ cli: "memory" }, { argv });
    if (error) throw new Error(error.message);
    return value as never;
  };

  it("are listed with what the plugin says about them, and reported as working", () => {
    expect(host.routes().map(({ name, about }) => [name, about])).toEqual([
      ["/plugins/p/echo", { auth: "plugin", match: "prefix" }],
      ["/plugins/p/broken", { auth: "gateway", match: "exact" }],
    ]);
    expect(host.commandLines().map(({ name, about }) => [name, about])).toEqual([
      ["memory", {}],
      ["second", { description: "Another" }],
    ]);
    expect(host.inspect("p").diagnostics).toEqual([]);
  });

  it("a route gets Node's request and answers with status, headers and body", async () => {
    expect(await ask("/plugins/p/echo", { method: "POST", headers: { "X-Own": "mine" }, body: "ü" })).toEqual({
      handled: true,
      status: 201,
      statusText: "Created",
      headers: { "set-cookie": ["a=1", "b=2"], "x-method": "POST" },
      body: "got ü mine",
    });
    expect(await ask("/plugins/p/echo/bytes")).toMatchObject({ status: 200, body: "AP8B", encoding: "base64" });
    expect(await ask("/plugins/p/echo/later")).toMatchObject({ status: 202, body: "later" });
  });

  it("a route that returns false leaves the request to others, and one that throws fails", async () => {
    expect(await ask("/plugins/p/echo/other")).toEqual({ handled: false });
    expect(await ask("/plugins/p/broken")).toContain("no");
  });

  it("a command line is read as commander reads it, and what it writes is its output", async () => {
    expect(await run("-v", "ls", "facts", "--user", "u1", "--limit=7")).toEqual({
      exitCode: 0,
      stdout: `${JSON.stringify(["facts", { limit: "7", color: true, user: "u1" }, { verbose: true }])}\nlogged\n`,
      stderr: "warned\n",
    });
    expect(await run("add", "a", "--", "--b")).toEqual({ exitCode: 3, stdout: "a+--b\n", stderr: "" });
    expect((await host.call({ cli: "second" }, { argv: [] })).value).toMatchObject({ exitCode: 4 });
  });

  it("mistakes in a command line are said, with exit code 1, and an action that throws fails the call", async () => {
    expect(await run("list")).toMatchObject({ exitCode: 1, stderr: "error: required option '--user <id>' not specified\n" });
    expect(await run("list", "--other")).toMatchObject({ exitCode: 1, stderr: "error: unknown option '--other'\n" });
    expect(await run("add")).toMatchObject({ exitCode: 1, stderr: "error: missing required argument 'texts'\n" });
    expect(await run("nothing")).toMatchObject({ exitCode: 1, stderr: "error: unknown command 'nothing'\n" });
    expect((await run("--help")).stdout).toMatch(/^Usage: openclaw memory \[options\] \[command\]\n\nWhat is kept[^]*list +List/);
    await expect(run("fail")).rejects.toThrow("broken");
  });
});
