/** The real plugin in the real sandbox, against a real HTTP server that plays Temporal's HTTP API. */
import { createServer } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { openHost, SessionEvents, sessionEndEvent } from "creel";
import type { Host, PluginSpec } from "creel";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

const SIGNALS = "/api/v1/namespaces/default/workflows/";

const logTo = (of: Host, to: string[]) => of.on("log", ({ level, text: line }) => to.push(`${level}: ${line}`));

describe.each(["thread", "process"] as const)("temporal-signal, %s isolation", (isolation) => {
  let server: Server;
  let origin: string;
  let host: Host;
  const signals: { request: string; type: string | undefined; body: unknown }[] = [];
  const lines: string[] = [];
  /** What the server answers next; 200 when there is nothing left. */
  const statuses: number[] = [];

  const receive = async (request: IncomingMessage): Promise<number> => {
    const body: unknown = JSON.parse(await text(request));
    signals.push({ request: `${request.method} ${request.url}`, type: request.headers["content-type"], body });
    return statuses.shift() ?? 200;
  };

  const spec = (more: Partial<PluginSpec> = {}) => ({
    path: import.meta.dirname,
    config: { url: `${origin}${SIGNALS}{workflowId}/signal/complete` },
    grants: { fetch: [{ origin, methods: ["POST" as const], pathPrefix: SIGNALS }] },
    ...more,
  });
  const open = (more?: Partial<PluginSpec>) => openHost({ isolation, lanes: 1, plugins: [spec(more)], logger: pino({ level: "silent" }) });

  beforeAll(async () => {
    server = createServer((request, response) => void receive(request).then((status) => response.writeHead(status).end("{}")));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    host = await open();
    logTo(host, lines);
  });
  afterAll(async () => {
    await host.close();
    server.close();
  });
  beforeEach(() => {
    for (const list of [signals, lines, statuses]) list.length = 0;
  });

  const ended = (metadata?: Record<string, unknown>, lastMessage?: string) =>
    host.run("session:end", sessionEndEvent({ sessionId: "s1", sessionKey: "agent:main:t1", stopReason: "stop", metadata, lastMessage }));

  it("signals the workflow that the session was started for", async () => {
    const sessions = new SessionEvents(host);
    sessions.started({ sessionId: "s1", sessionKey: "agent:main:t1", metadata: { workflowId: "order/7" } });
    sessions.ran("s1", { messages: [{ role: "assistant", content: "Shipped.", stopReason: "stop" }], success: true });
    sessions.ended({ sessionId: "s1" });
    await vi.waitFor(() => expect(lines).toEqual(["info: workflow order/7 was told that its session ended with stop"]));
    expect(signals).toEqual([
      {
        request: `POST ${SIGNALS}order%2F7/signal/complete`,
        type: "application/json",
        body: { sessionKey: "agent:main:t1", stopReason: "stop", lastMessage: "Shipped." },
      },
    ]);
  });

  it.each([undefined, {}, { workflowId: "" }, { workflowId: 7 }])("says nothing about a session with the metadata %j", async (metadata) => {
    expect((await ended(metadata)).calls).toMatchObject([{ plugin: "temporal-signal", status: "ok" }]);
    expect(signals).toEqual([]);
  });

  it("leaves out what there is not, and sends the gist of a long message", async () => {
    await ended({ workflowId: "w" });
    await ended({ workflowId: "w" }, "x".repeat(2_000_000));
    expect(signals.map(({ body }) => body)).toEqual([
      { sessionKey: "agent:main:t1", stopReason: "stop" },
      { sessionKey: "agent:main:t1", stopReason: "stop", lastMessage: "x".repeat(16_000) },
    ]);
  });

  it("tries again while the server has trouble, and not when it says no", async () => {
    statuses.push(503, 500);
    await ended({ workflowId: "w" });
    expect(signals).toHaveLength(3);
    statuses.push(404);
    await ended({ workflowId: "gone" });
    expect(signals).toHaveLength(4);
    await vi.waitFor(() =>
      expect(lines).toEqual([
        "info: workflow w was told that its session ended with stop",
        "error: workflow gone was not told: the server answered 404",
      ]),
    );
  });

  it.each(["..", "../../admin", "..%2f..%2fadmin", "a/../../admin"])(
    "a workflow id cannot lead out of what was granted: %s",
    async (workflowId) => {
      await ended({ workflowId });
      await vi.waitFor(() => expect(lines).toHaveLength(1));
      expect(lines[0]).toContain("is not granted to temporal-signal");
      expect(signals).toEqual([]);
    },
  );

  it("reaches nothing without a grant, and the log says so", async () => {
    await using own = await open({ grants: {} });
    const said: string[] = [];
    logTo(own, said);
    await own.run("session:end", sessionEndEvent({ sessionId: "s1", sessionKey: "k", metadata: { workflowId: "w" } }));
    await vi.waitFor(() =>
      expect(said).toEqual([`error: workflow w was not told: fetch from ${origin} is not granted to temporal-signal`]),
    );
    expect(signals).toEqual([]);
  });

  it("does not load without a URL, and says which key to set", async () => {
    await using own = await open({ config: {} });
    expect(own.inspect("temporal-signal")).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("config.url is missing") as string },
    });
  });
});
