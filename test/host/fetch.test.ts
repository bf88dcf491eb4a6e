/** The host's side of `fetch`, with a resolver and a clock of the test's own. The servers are real. */
import { expect, it } from "vitest";
import type { FetchGrant } from "../../src/protocol/fetch-grant.ts";
import { CreelError } from "../../src/protocol/errors.ts";
import type { Address } from "../../src/host/services/addresses.ts";
import { Fetches } from "../../src/host/services/fetch.ts";
import type { FetchOptions } from "../../src/host/services/fetch.ts";
import { echo, serve } from "../support/server.ts";

const at = (address: string): Address[] => [{ address, family: address.includes(":") ? 6 : 4 }];

function ask(url: string, options: FetchOptions, grants: FetchGrant[] = [new URL(url).origin], fetches = new Fetches(options)) {
  const question = { id: 1, url, method: "GET", headers: {}, redirect: "follow" };
  return fetches.fetch({ id: "p", cell: 0, grants: { fetch: grants } }, question, { check: () => {}, token: () => "t" });
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

it("a server that does not answer in time, or stops in the middle, is given up", async () => {
  await using silent = await serve((_, response, { url }) => void (url === "/head" && response.writeHead(200).write("half")));
  for (const path of ["/nothing", "/head"]) expect(await code(ask(silent.origin + path, { timeoutMs: 50 }))).toBe("ERR_FETCH_TIMEOUT");
});

it("a name that nobody answers for is given up", async () => {
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
  await using silent = await serve(() => fetches.close());
  expect(await code(ask(silent.origin, {}, [silent.origin], fetches))).toBe("ERR_HOST_CLOSED");
});
