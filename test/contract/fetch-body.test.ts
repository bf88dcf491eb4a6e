/** Bodies that come in pieces, requests that are aborted, and what is left of either: nothing. The servers are real, on loopback. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ServerResponse } from "node:http";
import type { Host, PluginSpec } from "creel";
import { LIMITS } from "../../src/protocol/limits.ts";
import { actor, ask, sending } from "../support/actors.ts";
import { does } from "../support/cell.ts";
import { contract, open, statuses } from "../support/host.ts";
import { echo, serve } from "../support/server.ts";
import type { Answerer, TestServer } from "../support/server.ts";

/** Longer than what travels with the head. */
const LONG = LIMITS.fetch.inlineBytes * 5;
const TEXT = "aä€😀".repeat(LONG / 10);

const of = <T>(map: Map<string, PromiseWithResolvers<T>>, path: string): PromiseWithResolvers<T> => {
  if (!map.has(path)) map.set(path, Promise.withResolvers());
  return map.get(path)!;
};

const aborted = (signal: string) =>
  `state.controller = new AbortController(); state.reason = new RangeError("enough"); try { await fetch(${signal}); } catch (error) { return error === state.reason; }`;

const isLazy = (name: string) => `typeof Object.getOwnPropertyDescriptor(globalThis, "${name}").get === "function"`;

interface Echoed {
  readonly body: string;
  readonly headers: Record<string, string>;
}

contract("bodies in pieces", (isolation) => {
  let server: TestServer;
  let host: Host;
  /** Answers that wait for the test to go on with them, by path. */
  const held = new Map<string, PromiseWithResolvers<ServerResponse>>();
  const closed = new Map<string, PromiseWithResolvers<void>>();

  const site: Answerer = (asked, response, request) => {
    const { pathname } = new URL(asked.url, "http://site");
    if (pathname.startsWith("/held")) {
      response.on("close", () => of(closed, pathname).resolve());
      return of(held, pathname).resolve(response);
    }
    if (pathname === "/text") return response.writeHead(200, { "content-type": "text/plain; charset=utf-8" }).end(TEXT);
    if (pathname === "/bytes") return response.writeHead(200).end(Buffer.alloc(LONG, 0xff));
    if (pathname === "/json") return response.writeHead(200).end(JSON.stringify({ text: TEXT }));
    return echo(asked, response, request);
  };

  beforeAll(async () => {
    server = await serve(site);
    const grants = { fetch: [server.origin] };
    const plugins: PluginSpec[] = ["p", "q"].map((id) => ({ ...actor(id), grants }));
    host = await open(isolation, { plugins: [...plugins, { ...actor("slow"), grants, hooks: { timeoutMs: 500, cpuMs: 2_000 } }] });
  });
  afterAll(async () => {
    await host.close();
    await server.close();
  });

  it("a long body is put together, as text, bytes, JSON or a stream", async () => {
    const found = await does(
      host,
      "p",
      `const get = (path) => fetch("${server.origin}" + path);
       const text = await (await get("/text")).text();
       const bytes = await (await get("/bytes")).bytes();
       const json = await (await get("/json")).json();
       const copied = await get("/text"); const copy = copied.clone(); const both = await Promise.all([copied.text(), copy.text()]);
       let size = 0, pieces = 0; for await (const piece of (await get("/text")).body) { size += piece.length; pieces++; }
       const decoded = []; for await (const piece of (await get("/text")).body.pipeThrough(new TextDecoderStream())) decoded.push(piece);
       const buffer = await (await get("/bytes")).arrayBuffer();
       const blob = await (await get("/text")).blob();
       return [text.length, text === json.text, bytes.length, bytes.every((byte) => byte === 255), both[0] === text, both[1] === text, size, pieces > 1, decoded.join("") === text, buffer.byteLength, blob.size, blob.type];`,
    );
    const size = Buffer.byteLength(TEXT);
    expect(found).toEqual([TEXT.length, true, LONG, true, true, true, size, true, true, LONG, size, "text/plain;charset=utf-8"]);
  });

  it("a stream is read as it comes: the first piece before the server has written the last", async () => {
    const reading = does(
      host,
      "p",
      `const r = await fetch("${server.origin}/held/events"); const reader = r.body.getReader(); const seen = [];
       for (;;) { const { done, value } = await reader.read(); if (done) break; seen.push(String.fromCharCode(...value)); await fetch("${server.origin}/seen", { method: "POST", body: seen.join("") }); }
       return [r.bodyUsed, seen.join("")];`,
    );
    const response = await of(held, "/held/events").promise;
    const said = () => server.asked.findLast(({ url }) => url === "/seen")?.body.toString();
    for (const text of ["one ", "two ", "three"]) {
      response.write(text);
      await expect.poll(said, { timeout: 10_000 }).toContain(text);
    }
    response.end();
    expect(await reading).toEqual([true, "one two three"]);
  });

  it("nothing is read ahead of a plugin that does not read", async () => {
    const going = does(
      host,
      "p",
      `const r = await fetch("${server.origin}/held/flood"); const reader = r.body.getReader();
       for (let i = 0; i < 30; i++) await (await fetch("${server.origin}/text")).text();
       // Had the host gone on reading, the answer would be longer by now than an answer may be.
       const { value } = await reader.read(); await reader.cancel(); return value.length > 0;`,
    );
    const response = await of(held, "/held/flood").promise;
    const chunk = Buffer.alloc(65_536);
    const flood = (): void => void (response.destroyed || response.write(chunk, flood));
    flood();
    expect(await going).toBe(true);
    await of(closed, "/held/flood").promise;
  });

  const encoded = `new TextEncoder().encode("a=1")`;
  const PLAIN = "text/plain;charset=UTF-8";
  it.each([
    ["a string", `"a=1"`, PLAIN],
    ["URLSearchParams", `new URLSearchParams({ a: 1 })`, "application/x-www-form-urlencoded;charset=UTF-8"],
    ["a Uint8Array", encoded, undefined],
    ["an ArrayBuffer", `${encoded}.buffer`, undefined],
    ["a Blob", `new Blob(["a", "=1"], { type: "x/y" })`, "x/y"],
    ["a ReadableStream", `new Blob(["a", "=1"]).stream()`, undefined],
    ["an async iterable", `(async function* () { yield ${encoded}.slice(0, 2); yield ${encoded}.slice(2); })()`, undefined],
  ])("a body may be sent as %s", async (_, given, type) => {
    const init = `"${server.origin}/x", { method: "POST", duplex: "half", body: ${given} }`;
    for (const call of [`fetch(${init})`, `fetch(new Request(${init}))`]) {
      const { body, headers } = (await does(host, "p", `return await (await ${call}).json();`)) as Echoed;
      expect([body, headers["content-type"]]).toEqual(["a=1", type]);
    }
  });

  it("a form may be sent, with files in it", async () => {
    const form = `const form = new FormData(); form.append("a", "1"); form.append("f", new File(["text"], "n.txt", { type: "text/x" }));`;
    const { body, headers } = (await does(
      host,
      "p",
      `${form} return await (await fetch("${server.origin}/x", { method: "POST", body: form })).json();`,
    )) as Echoed;
    const read = await new Response(body, { headers: { "content-type": headers["content-type"]! } }).formData();
    const file = read.get("f") as File;
    expect([read.get("a"), file.name, file.type, await file.text()]).toEqual(["1", "n.txt", "text/x", "text"]);
  });

  it("a stream without an end is not collected for ever", async () => {
    const endless = `new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(65536)); } })`;
    expect(await does(host, "p", `await fetch("${server.origin}/x", { method: "POST", duplex: "half", body: ${endless} });`)).toMatchObject(
      { code: "ERR_FETCH_REQUEST_SIZE" },
    );
  });

  it("an abort ends the request at the server, and says the signal's reason", async () => {
    for (const [path, call] of [
      ["/held/abort", `"${server.origin}/held/abort", { signal: state.controller.signal }`],
      ["/held/request", `new Request("${server.origin}/held/request", { signal: state.controller.signal })`],
    ] as const) {
      const found = does(host, "p", aborted(call));
      await of(held, path).promise;
      await does(host, "p", `state.controller.abort(state.reason);`);
      expect(await found).toBe(true);
      await of(closed, path).promise;
    }
  });

  it("AbortSignal.timeout does so too", async () => {
    const late = `try { await fetch("${server.origin}/held/timeout", { signal: AbortSignal.timeout(20) }); } catch (error) { return error.name; }`;
    expect(await does(host, "p", late)).toBe("TimeoutError");
  });

  it("an abort ends a body that is being read, whether as a whole or as a stream", async () => {
    const reading = does(
      host,
      "p",
      `const controller = new AbortController(); const go = (path) => fetch("${server.origin}" + path, { signal: controller.signal });
       const whole = await go("/held/whole"), part = await go("/held/part"), idle = await go("/held/idle");
       const stream = idle.body;
       const all = [whole.text(), part.body.getReader().read().then(() => "first"), part.text().catch((e) => { throw e.name === "TypeError" ? "locked" : e; })].map((p) => p.then((v) => v, (e) => e));
       controller.abort("enough");
       return [...await Promise.all(all), await stream.getReader().read().then(() => "read", (e) => e), await idle.text().catch((e) => e.name)];`,
    );
    for (const path of ["/held/whole", "/held/part", "/held/idle"]) (await of(held, path).promise).writeHead(200).flushHeaders();
    expect(await reading).toEqual(["enough", "enough", "locked", "enough", "TypeError"]);
    await Promise.all(["/held/whole", "/held/part", "/held/idle"].map((path) => of(closed, path).promise));
  });

  it("an abort after the end does nothing", async () => {
    expect(
      await does(
        host,
        "p",
        `const c = new AbortController(); const r = await fetch("${server.origin}/text", { signal: c.signal }); const text = await r.text(); c.abort(); return [text.length, (await fetch("${server.origin}/x")).status];`,
      ),
    ).toEqual([TEXT.length, 200]);
  });

  it("a call that runs out of time takes its request and the body it is reading with it", async () => {
    const first = host.run("message_sending", sending({ slow: `async await fetch("${server.origin}/held/late");` }), { channelId: "chat" });
    const second = host.run("message_sending", sending({ slow: `async await (await fetch("${server.origin}/held/late-body")).text();` }), {
      channelId: "chat",
    });
    (await of(held, "/held/late-body").promise).writeHead(200).flushHeaders();
    for (const outcome of await Promise.all([first, second])) expect(statuses(outcome)).toContain("slow:timeout");
    await Promise.all([of(closed, "/held/late").promise, of(closed, "/held/late-body").promise]);
  });

  it("so does a cell that is replaced, and one that is reloaded", async () => {
    await does(host, "q", `state.kept = fetch("${server.origin}/held/gone").catch(() => {}); return 1;`);
    await of(held, "/held/gone").promise;
    const lost = await host.run("message_sending", sending({ q: `const full = []; for (;;) full.push(new Array(1e5).fill(1));` }), {
      channelId: "chat",
    });
    expect(statuses(lost)).toContain("q:memory");
    await of(closed, "/held/gone").promise;
    expect(await ask(host, "q", "1")).toBe(1);
    await does(host, "q", `state.kept = fetch("${server.origin}/held/reloaded").catch(() => {}); return 1;`);
    await of(held, "/held/reloaded").promise;
    await host.reload("q");
    await of(closed, "/held/reloaded").promise;
  });

  it("a plugin that only gets JSON does not have the streams' code evaluated", async () => {
    await host.reload("q");
    const names = ["ReadableStream", "AbortController", "URL", "Blob", "FormData"];
    expect(await does(host, "q", `await (await fetch("${server.origin}/json")).json(); return [${names.map(isLazy).join()}];`)).toEqual(
      names.map(() => true),
    );
  });
});
