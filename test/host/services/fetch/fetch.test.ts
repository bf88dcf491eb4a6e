/** The host's side of `fetch`, with the test's resolver and clock. The servers are real. */
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import type { FetchGrant } from "../../../../src/protocol/config/fetch-grant.ts";
import { CreelError } from "../../../../src/protocol/errors.ts";
import type { Address } from "../../../../src/host/services/fetch/addresses.ts";
import { Fetches } from "../../../../src/host/services/fetch/fetch.ts";
import type { FetchOptions } from "../../../../src/host/services/fetch/fetch.ts";
import { selfSigned } from "../../../support/certificate.ts";
import { echo, serve } from "../../../support/server.ts";

const at = (address: string): Address[] => [{ address, family: address.includes(":") ? 6 : 4 }];

interface Asking {
  readonly plugin?: string;
  readonly grants?: FetchGrant[];
  readonly init?: Record<string, unknown>;
}

let asked = 0;
function askOf(fetches: Fetches, url: string, { plugin = "p", grants = [new URL(url).origin], init }: Asking = {}) {
  const question = { id: ++asked, url, method: "GET", headers: {}, redirect: "follow", ...init };
  return fetches.fetch({ id: plugin, cell: 0, grants: { fetch: grants } }, question, { check: () => {}, token: () => "t" });
}

function ask(url: string, options: FetchOptions, grants?: FetchGrant[]) {
  return askOf(new Fetches(options), url, grants && { grants });
}

const code = (answer: Promise<unknown>) =>
  answer.then(
    () => "answered",
    (error: unknown) => (error instanceof CreelError ? error.code : error),
  );

it.each(["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "0.0.0.0"])(
  "a granted name that resolves to %s is not asked",
  async (address) => {
    await using server = await serve(echo);
    expect(await code(ask(`http://api.example.com:${server.port}/x`, { resolve: async () => at(address) }))).toBe("ERR_FETCH_ADDRESS");
    expect(server.asked).toEqual([]);
  },
);

it("the connection goes to the address that was checked, and the name is looked up once", async () => {
  await using server = await serve(echo, "127.0.0.2");
  const looked: string[] = [];
  const resolve = async (host: string): Promise<Address[]> => {
    looked.push(host);
    return at(looked.length === 1 ? "127.0.0.2" : "10.0.0.1");
  };
  const answer = await ask(`http://localhost:${server.port}/x`, { resolve });
  expect(answer.status).toBe(200);
  expect(server.asked[0]!.headers.host).toBe(`localhost:${server.port}`);
  expect(looked).toEqual(["localhost"]);
});

it("a redirect is looked up and checked again", async () => {
  await using server = await serve((_, response) => response.writeHead(302, { location: `http://api.example.com:${port}/x` }).end());
  const { port } = server;
  const grants = [`http://localhost:${port}`, `http://api.example.com:${port}`];
  expect(await code(ask(`http://localhost:${port}/x`, { resolve: async () => at("127.0.0.1") }, grants))).toBe("ERR_FETCH_ADDRESS");
  expect(server.asked).toHaveLength(1);
});

it("a server that does not answer in time, or stops in the middle, times out", async () => {
  await using silent = await serve((_, response, { url }) => void (url === "/head" && response.writeHead(200).write("half")));
  expect(await code(ask(`${silent.origin}/nothing`, { timeoutMs: 50 }))).toBe("ERR_FETCH_TIMEOUT");
  const fetches = new Fetches({ bodyMs: 50 });
  const plugin = { id: "p", cell: 0, grants: { fetch: [silent.origin] } };
  expect(await askOf(fetches, `${silent.origin}/head`, { init: { id: 7_000 } })).toMatchObject({ status: 200, text: "half", more: true });
  expect(await code(fetches.read(plugin, { id: 7_000 }))).toBe("ERR_FETCH_TIMEOUT");
});

it("a name that no server answers for times out", async () => {
  const { promise } = Promise.withResolvers<Address[]>();
  expect(await code(ask("http://api.example.com/", { resolve: () => promise, timeoutMs: 20 }))).toBe("ERR_FETCH_TIMEOUT");
});

it("a name that does not exist is told in words", async () => {
  const error = Object.assign(new Error("getaddrinfo ENOTFOUND secret.internal"), { code: "ENOTFOUND" });
  await expect(ask("http://api.example.com/", { resolve: () => Promise.reject(error) })).rejects.toThrow(
    /^the request to http:\/\/api\.example\.com failed: its name does not resolve$/,
  );
});

it("close ends what is under way", async () => {
  const fetches = new Fetches();
  await using silent = await serve(() => void fetches.close());
  expect(await code(askOf(fetches, silent.origin))).toBe("ERR_HOST_CLOSED");
});

it.each([
  [{ headers: { "x-a": "1\r\nx-b: 2" } }, "ERR_FETCH_HEADER"],
  [{ headers: { "x-a\r\nx-b": "1" } }, "ERR_FETCH_HEADER"],
  [{ headers: { "x-a": "\u20ac" } }, "ERR_FETCH_HEADER"],
  [{ method: "CONNECT" }, "ERR_SERVICE_ARGUMENT"],
  [{ method: "get" }, "ERR_SERVICE_ARGUMENT"],
  [{ id: 0 }, "ERR_SERVICE_ARGUMENT"],
  [{ more: 1 }, "ERR_SERVICE_ARGUMENT"],
  [{ text: "a GET has no body" }, "ERR_FETCH_URL"],
])("a guest that does not check what it asks for is checked here: %j", async (init, refused) => {
  await using server = await serve(echo);
  expect(await code(askOf(new Fetches(), server.origin, { init }))).toBe(refused);
  expect(server.asked).toEqual([]);
});

it("a connection is kept for the same plugin, origin and address, and for nobody else", async () => {
  const ports = new Set<number>();
  const connections: number[] = [];
  await using server = await serve((one, response, request) => {
    ports.add(request.socket.remotePort!);
    connections.push(ports.size);
    return echo(one, response, request);
  });
  const addresses = ["127.0.0.1", "127.0.0.1", "127.0.0.1", "127.0.0.2"];
  const fetches = new Fetches({ resolve: async () => at(addresses.shift()!) });
  const url = `http://localhost:${server.port}/x`;
  await askOf(fetches, url);
  // It is free one tick after the end of the response was handled.
  await setImmediate();
  await askOf(fetches, url);
  await setImmediate();
  await askOf(fetches, url, { plugin: "other" });
  // The name now leads to an address without a server: the kept connection is not used.
  expect(await code(askOf(fetches, url))).toBe("ERR_FETCH_FAILED");
  await askOf(fetches, `${server.origin}/x`);
  expect(connections).toEqual([1, 1, 2, 3]);
  await fetches.close();
});

it("certificates are checked, whatever the gateway's environment says", async () => {
  const server = createServer(selfSigned("localhost"), (_, response) => response.end("secure"));
  server.on("tlsClientError", () => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
  const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
  // The control: the setting works.
  expect(await (await fetch(url)).text()).toBe("secure");
  await expect(ask(url, {})).rejects.toThrow(/its certificate is not valid$/);
  vi.unstubAllEnvs();
  server.close();
  server.closeAllConnections();
});
