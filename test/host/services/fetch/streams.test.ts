/**
 * Bodies in pieces, as the host keeps them: to which cell they belong, for how long, and how many. The servers are
 * real.
 */
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { CreelError } from "../../../../src/protocol/errors.ts";
import { LIMITS } from "../../../../src/protocol/limits.ts";
import { Fetches } from "../../../../src/host/services/fetch/fetch.ts";
import type { FetchOptions, Requester } from "../../../../src/host/services/fetch/fetch.ts";
import { serve } from "../../../support/server.ts";
import type { TestServer } from "../../../support/server.ts";

let server: TestServer;
/** Responses that the server still has open. */
let open = 0;
let closed = Promise.withResolvers<void>();

beforeEach(async () => {
  closed = Promise.withResolvers();
  server = await serve((_, response, { url }) => {
    open += 1;
    response.on("close", () => {
      open -= 1;
      if (open === 0) closed.resolve();
    });
    response.writeHead(200).write("x".repeat(LIMITS.fetch.inlineBytes + 1));
    if (url === "/whole") response.end("end");
  });
});
afterEach(() => server.close());

const of = (plugin: string, cell = 0): Requester => ({ id: plugin, cell, grants: { fetch: [server.origin] } });

function begin(fetches: Fetches, who: Requester, id: number, path = "/part") {
  const question = { id, url: server.origin + path, method: "GET", headers: {}, redirect: "follow" };
  return fetches.fetch(who, question, { check: () => {}, token: () => "t" });
}

const code = (answer: Promise<unknown>) =>
  answer.then(
    () => "answered",
    (error: unknown) => (error instanceof CreelError ? error.code : error),
  );

const made = (options: FetchOptions = {}) => new Fetches(options);

it("a number leads to nothing but what the same plugin began in the same cell", async () => {
  const fetches = made();
  expect(await begin(fetches, of("a"), 1)).toMatchObject({ more: true });
  for (const stranger of [of("b"), of("a", 1)]) {
    expect(await code(fetches.read(stranger, { id: 1 }))).toBe("ERR_FETCH_BODY");
    fetches.abort(stranger, { id: 1 });
    fetches.left(stranger.id, stranger.cell);
  }
  expect(await fetches.read(of("a"), { id: 1 })).toEqual({ text: "x", more: true });
  expect(await code(begin(fetches, of("a"), 1))).toBe("ERR_SERVICE_ARGUMENT");
  await fetches.close();
});

it("a body is read to its end once, and by one at a time", async () => {
  const fetches = made();
  await begin(fetches, of("a"), 1, "/whole");
  expect(await fetches.read(of("a"), { id: 1 })).toEqual({ text: "xend" });
  expect(await code(fetches.read(of("a"), { id: 1 }))).toBe("ERR_FETCH_BODY");
  await begin(fetches, of("a"), 2);
  await fetches.read(of("a"), { id: 2 });
  const first = code(fetches.read(of("a"), { id: 2 }));
  expect(await code(fetches.read(of("a"), { id: 2 }))).toBe("ERR_FETCH_BODY");
  fetches.abort(of("a"), { id: 2 });
  expect(await first).toBe("ERR_FETCH_ABORTED");
  await fetches.close();
});

it.each([
  ["an abort", async (fetches: Fetches) => fetches.abort(of("a"), { id: 1 })],
  ["the end of its cell", async (fetches: Fetches) => fetches.left("a", 0)],
  ["the host's end", (fetches: Fetches) => fetches.close()],
])("%s ends the connection", async (_, end) => {
  const fetches = made();
  await begin(fetches, of("a"), 1);
  await end(fetches);
  await closed.promise;
  expect(await code(fetches.read(of("a"), { id: 1 }))).toBe("ERR_FETCH_BODY");
  await fetches.close();
});

it("a body that is not read is dropped, and a later read fails with the reason", async () => {
  const fetches = made({ idleMs: 20 });
  await begin(fetches, of("a"), 1);
  await closed.promise;
  await expect(fetches.read(of("a"), { id: 1 })).rejects.toThrow("it was dropped after 0.02 s without a read");
  await fetches.close();
});

it("a body has its time in all, however it is read", async () => {
  const fetches = made({ bodyMs: 50, idleMs: 10_000 });
  await begin(fetches, of("a"), 1);
  await fetches.read(of("a"), { id: 1 });
  expect(await code(fetches.read(of("a"), { id: 1 }))).toBe("ERR_FETCH_TIMEOUT");
  await closed.promise;
  await fetches.close();
});

it("bodies that are open count among the pending requests, and no longer when they are over", async () => {
  const fetches = made();
  for (let id = 1; id <= LIMITS.fetch.pending; id++) await begin(fetches, of("a"), id);
  expect(await code(begin(fetches, of("a"), 100))).toBe("ERR_FETCH_BUSY");
  expect(await code(begin(fetches, of("b"), 1))).toBe("answered");
  fetches.abort(of("a"), { id: 1 });
  expect(await code(begin(fetches, of("a"), 101))).toBe("answered");
  await fetches.close();
});

it("what is no reference is refused", async () => {
  const fetches = made();
  for (const args of [null, {}, { id: "1" }, { id: 1, more: 1 }, { id: 1.5 }])
    expect(await code(fetches.read(of("a"), args))).toBe("ERR_SERVICE_ARGUMENT");
  expect(() => fetches.abort(of("a"), {})).toThrow(CreelError);
});

it("an abort at any moment leaves nothing open", async () => {
  const fetches = made();
  const answers: Promise<unknown>[] = [];
  for (let id = 1; id <= 12; id++) {
    const answer = code(begin(fetches, of("a"), id, id % 2 === 0 ? "/whole" : "/part"));
    answers.push(answer);
    for (let ticks = id; ticks > 0; ticks--) await setImmediate();
    fetches.abort(of("a"), { id });
  }
  const known = new Set(["answered", "ERR_FETCH_ABORTED"]);
  expect((await Promise.all(answers)).filter((one) => !known.has(one as string))).toEqual([]);
  // All places are free again.
  for (let id = 21; id <= 20 + LIMITS.fetch.pending; id++) expect(await code(begin(fetches, of("a"), id))).toBe("answered");
  await fetches.close();
  await closed.promise;
});
