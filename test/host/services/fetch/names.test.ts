/**
 * Look-ups use no thread of the pool that the whole gateway shares, are shared by all that wait for a name, and are
 * bounded in time.
 */
import { pbkdf2 } from "node:crypto";
import { createSocket } from "node:dgram";
import type { Socket } from "node:dgram";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, it } from "vitest";
import { LIMITS } from "../../../../src/protocol/limits.ts";
import { hostsIn, Names } from "../../../../src/host/services/fetch/names.ts";
import { folder } from "../../../support/files.ts";

const open: Socket[] = [];
afterEach(() => {
  for (const socket of open.splice(0)) socket.close();
});

/** A name server on this machine. `answers`: the address of a name; undefined: it stays silent. */
async function server(answers: (name: string) => string | undefined) {
  const socket = createSocket("udp4");
  open.push(socket);
  const asked: string[] = [];
  socket.on("message", (query, { port, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at]!; length > 0; length = query[at]!) {
      labels.push(query.toString("latin1", at + 1, at + 1 + length));
      at += length + 1;
    }
    const isV4 = query.readUInt16BE(at + 1) === 1;
    const name = labels.join(".");
    asked.push(`${isV4 ? "A" : "AAAA"} ${name}`);
    const found = answers(name);
    if (found === undefined) return;
    const header = Buffer.from([query[0]!, query[1]!, 0x81, 0x80, 0, 1, 0, isV4 ? 1 : 0, 0, 0, 0, 0]);
    const record = [0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...found.split(".").map(Number)];
    socket.send(Buffer.concat([header, query.subarray(12, at + 5), Buffer.from(isV4 ? record : [])]), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return { asked, servers: [`127.0.0.1:${socket.address().port}`] };
}

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "found",
    (error: { code: string }) => error.code,
  );
const NO_HOSTS = "/nonexistent/hosts";

it("a name is looked up once for all that wait for it, and its answer is kept for a while", async () => {
  const { asked, servers } = await server(() => "93.184.215.14");
  let nowMs = 0;
  const names = new Names({ servers, hostsFile: NO_HOSTS, now: () => nowMs });
  const found = await Promise.all(Array.from({ length: 50 }, (_, n) => names.resolve("api.example.com", `plugin ${n}`)));
  expect(new Set(found).size).toBe(1);
  expect(found[0]).toEqual([{ address: "93.184.215.14", family: 4 }]);
  await names.resolve("API.example.com.");
  expect(asked.toSorted()).toEqual(["A api.example.com", "AAAA api.example.com"]);
  nowMs += LIMITS.fetch.lookUpKeptMs + 1;
  await names.resolve("api.example.com");
  expect(asked).toHaveLength(4);
});

it("while a name server is silent other names are found, and a plugin holds so many look-ups at most", async () => {
  const { asked, servers } = await server((name) => (name.startsWith("silent") ? undefined : "93.184.215.14"));
  const names = new Names({ servers, hostsFile: NO_HOSTS });
  const silent = Array.from({ length: LIMITS.fetch.lookUps }, (_, n) => codeOf(names.resolve(`silent${n}.example`, "evil")));
  expect(await codeOf(names.resolve("one-more.example", "evil"))).toBe("EAI_AGAIN");
  expect(await names.resolve("api.example.com", "good")).toHaveLength(1);
  // It gives up by itself after a few tries.
  expect(new Set(await Promise.all(silent))).toEqual(new Set(["ENOTFOUND"]));
  expect(asked.filter((one) => one === "A silent0.example")).toHaveLength(LIMITS.fetch.lookUpTries);
  expect(await codeOf(names.resolve("api.example.com", "evil"))).toBe("found");
}, 60_000);

it("no thread of the pool is needed", async () => {
  const { servers } = await server(() => "93.184.215.14");
  const order: string[] = [];
  const derive = promisify(pbkdf2);
  // More than there are threads.
  const busy = Array.from({ length: 16 }, () => derive("x", "y", 300_000, 32, "sha256").then(() => order.push("thread")));
  const name = new Names({ servers, hostsFile: NO_HOSTS }).resolve("api.example.com").then(() => order.push("name"));
  await Promise.all([...busy, name]);
  expect(order.indexOf("name")).toBeLessThan(8);
});

it("the hosts file is heeded, is read again after a while, and may be missing", async () => {
  const { asked, servers } = await server(() => "93.184.215.14");
  const hostsFile = join(folder({ hosts: "127.0.0.1 localhost here # no there\n::1\tlocalhost\nnonsense x\n\n10.0.0.1 Inside" }), "hosts");
  let nowMs = 0;
  const names = new Names({ servers, hostsFile, now: () => nowMs });
  expect(await names.resolve("localhost")).toEqual([
    { address: "127.0.0.1", family: 4 },
    { address: "::1", family: 6 },
  ]);
  expect(await names.resolve("inside")).toEqual([{ address: "10.0.0.1", family: 4 }]);
  expect(asked).toEqual([]);
  writeFileSync(hostsFile, "10.0.0.2 inside");
  nowMs += LIMITS.fetch.lookUpKeptMs + 1;
  expect(await names.resolve("inside")).toEqual([{ address: "10.0.0.2", family: 4 }]);
  rmSync(hostsFile);
  nowMs += LIMITS.fetch.lookUpKeptMs + 1;
  expect(await names.resolve("localhost")).toContainEqual({ address: "127.0.0.1", family: 4 });
  expect(await names.resolve("inside")).toEqual([{ address: "93.184.215.14", family: 4 }]);
});

it("what is no address in a hosts file is no line of it", () => {
  expect([...hostsIn("999.1.1.1 a\n#127.0.0.1 b\n127.0.0.1\n fe80::1 c ").keys()]).toEqual(["c"]);
});
