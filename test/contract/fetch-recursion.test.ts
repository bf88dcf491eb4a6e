/** Loops through HTTP: a plugin calls a server, the server calls the gateway, and the gateway fires the plugin's hook again. */
import { expect, it } from "vitest";
import type { Facts, Host, SessionPatch } from "creel";
import { LIMITS } from "../../src/protocol/limits.ts";
import { contract, next, open, plugin, statuses } from "../support/host.ts";
import type { Isolation } from "../support/host.ts";
import { serve } from "../support/server.ts";
import type { Asked, TestServer } from "../support/server.ts";

const KEY = "agent:main:t1";

type Enter = (host: Host, headers: Asked["headers"], work: () => Promise<unknown>) => Promise<unknown>;

const rejoining: Enter = (host, headers, work) => host.rejoin(headers, work);

interface Scene extends AsyncDisposable {
  readonly host: Host;
  readonly server: TestServer;
  readonly applied: SessionPatch[];
  /** How the calls of every run ended, one list per run. */
  readonly runs: string[][];
  readonly loops: Facts["recursion"][];
}

/** A gateway that is asked over HTTP for a patch, by plugins that ask again whenever a session was patched. */
async function scene(
  isolation: Isolation,
  plugins: readonly { id: string; options?: string; how?: string }[],
  enter = rejoining,
): Promise<Scene> {
  const applied: SessionPatch[] = [];
  const server = await serve(async ({ headers, body }, response) => {
    await enter(host, headers, () => host.patchSession({ key: KEY, label: body.toString() }));
    response.end("patched");
  });
  const host: Host = await open(isolation, {
    gateway: {
      patchSession: async (patch) => {
        applied.push(patch);
        return { sessionEntry: { label: patch.label } };
      },
    },
    plugins: plugins.map(({ id, options = "{}", how = "ask()" }) =>
      plugin(
        id,
        `const ask = async () => { try { await fetch("${server.origin}/patch", { method: "POST", body: "${id}" }); } catch (error) { api.logger.error(error.code + ": " + error.message); } };
         api.on("session:patch", (event) => ${how}, ${options});`,
        { grants: { fetch: [server.origin] } },
      ),
    ),
  });
  const runs: string[][] = [];
  const loops: Facts["recursion"][] = [];
  host.on("run", ({ outcome }) => runs.push(statuses(outcome)));
  host.on("recursion", (fact) => loops.push(fact));
  const end = async (): Promise<void> => {
    await host.close();
    await server.close();
  };
  return { host, server, applied, runs, loops, [Symbol.asyncDispose]: end };
}

contract("loops through HTTP", (isolation) => {
  it("a loop through an HTTP call to the gateway stops at the depth limit, is reported once, and everything goes on", async () => {
    await using play = await scene(isolation, [{ id: "looper", options: "{ reentrant: true }" }]);
    const refused = next(play.host, "log", ({ level }) => level === "error");
    const settled = new Promise<void>((resolve) => {
      play.host.on("run", () => play.runs.length > LIMITS.causality.recursionDepth && resolve());
    });
    await play.host.patchSession({ key: KEY, label: "go" });
    expect((await refused).text).toBe(
      `ERR_RECURSION_DEPTH: Creel refused the request: 8 runs have already caused each other (${Array(9).fill("looper:session:patch").join(" → ")})`,
    );
    await settled;
    expect(play.server.asked).toHaveLength(LIMITS.causality.recursionDepth);
    expect(play.applied.map(({ label }) => label)).toEqual(["go", ...Array<string>(LIMITS.causality.recursionDepth).fill("looper")]);
    expect(play.runs.map(String)).toEqual(Array(LIMITS.causality.recursionDepth + 1).fill("looper:ok"));
    expect(play.loops).toHaveLength(1);
    expect(play.loops[0]).toMatchObject({
      plugin: "looper",
      sessionKey: undefined,
      limit: "depth",
      chain: { depth: 9, path: Array(9).fill("looper:session:patch"), by: "looper" },
    });
    expect(await play.host.patchSession({ key: "agent:main:other", label: "still here" })).toEqual({ label: "still here" });
  });

  it("a plugin is not called for what its own request did", async () => {
    await using play = await scene(isolation, [{ id: "echo" }]);
    const own = new Promise<void>((resolve) => {
      play.host.on("run", ({ outcome }) => outcome.calls.some(({ status }) => status === "recursion") && resolve());
    });
    await play.host.patchSession({ key: KEY, label: "go" });
    await own;
    expect(play.server.asked).toHaveLength(1);
    expect(play.runs.flat()).toContain("echo:recursion");
  });

  it("two plugins that answer each other over HTTP, one of them from a timer, stop too", async () => {
    await using play = await scene(isolation, [{ id: "ping" }, { id: "pong", how: "void setTimeout(ask, 1)" }]);
    const loop = next(play.host, "recursion");
    await play.host.patchSession({ key: KEY, label: "go" });
    expect((await loop).chain.path.join(" ")).toMatch(/ping:session:patch pong:session:patch|pong:session:patch ping:session:patch/);
  });

  it("a loop through a server that drops the header stops at the rate limit", async () => {
    await using play = await scene(isolation, [{ id: "lost" }], (_, __, work) => work());
    const refused = next(play.host, "log", ({ level }) => level === "error");
    await play.host.patchSession({ key: KEY, label: "go" });
    expect((await refused).text).toMatch(/^ERR_FETCH_RATE: the plugin has made more than 300 requests in 60 s/);
    expect(play.server.asked).toHaveLength(LIMITS.fetch.perWindow);
    expect(play.loops).toEqual([]);
  });

  it("a header that this host did not give out is ignored, and one that it did is taken in every form", async () => {
    await using play = await scene(isolation, [{ id: "echo" }], (_, __, work) => work());
    await using stranger = await scene(isolation, [{ id: "echo" }], (_, __, work) => work());
    const token = async ({ host, server }: Scene): Promise<string> => {
      const done = next(host, "run", ({ outcome }) => statuses(outcome).includes("echo:ok"));
      await host.patchSession({ key: KEY, label: "go" });
      await done;
      return server.asked[0]!.headers["creel-cause"] as string;
    };
    const mine = await token(play);
    const foreign = await token(stranger);
    const event = { type: "session", action: "patch", sessionKey: KEY, context: { sessionEntry: {}, patch: { key: KEY } } } as const;
    const within = async (headers: Parameters<Host["rejoin"]>[0]) =>
      statuses(await play.host.rejoin(headers, () => play.host.run("session:patch", event)));
    // In its own chain the plugin is not called.
    const own = ["echo:recursion"];
    expect(await within({ "creel-cause": mine })).toEqual(own);
    expect(await within(new Headers({ "Creel-Cause": mine }))).toEqual(own);
    expect(await within(mine)).toEqual(own);
    const [id, seal] = mine.split(".") as [string, string];
    const flipped = `${seal[0] === "A" ? "B" : "A"}${seal.slice(1)}`;
    const forged = [
      foreign,
      `${id}.${flipped}`,
      `${foreign.split(".")[0]}.${seal}`,
      id,
      `${mine}x`,
      `${mine}, ${mine}`,
      "",
      "x".repeat(1e5),
    ];
    for (const header of forged) expect(await within({ "creel-cause": header })).toEqual(["echo:ok"]);
    expect(await within(undefined)).toEqual(["echo:ok"]);
    expect(await within({})).toEqual(["echo:ok"]);
  });

  it("the header says nothing but a number that is new for every request", async () => {
    await using play = await scene(isolation, [{ id: "echo", how: "Promise.all([ask(), ask()])" }], async () => {});
    const done = next(play.host, "run");
    await play.host.patchSession({ key: KEY, label: "go" });
    await done;
    const tokens = play.server.asked.map(({ headers }) => headers["creel-cause"] as string);
    expect(new Set(tokens.flatMap((token) => token.split("."))).size).toBe(4);
    for (const token of tokens) expect(Buffer.from(token, "base64url").toString("latin1")).not.toContain(play.host.id);
  });

  it("what rejoin runs is given back, and what it throws is thrown", async () => {
    await using host = await open(isolation);
    expect(host.rejoin("x", () => 42)).toBe(42);
    expect(() =>
      host.rejoin("x", () => {
        throw new Error("mine");
      }),
    ).toThrow("mine");
  });
});
