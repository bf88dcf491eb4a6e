/** A socket that a thread blocks on: frames of any size get through, a closed link is noticed, and time limits hold. */
import { once } from "node:events";
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { expect, it, onTestFinished } from "vitest";
import { socketSync } from "../../../../src/host/supervisor/sync/sync-port.ts";
import type { SyncPort } from "../../../../src/host/supervisor/sync/sync-port.ts";
import { folder } from "../../../support/files.ts";

const PEER = new URL("fixtures/sync-peer.ts", import.meta.url);
const LONG_MS = 10_000;

async function line(): Promise<{ port: SyncPort; socket: Socket }> {
  const path = join(folder({}), "s");
  const server = createServer().listen(path);
  const peer = new Worker(PEER, { workerData: path });
  const [socket] = (await once(server, "connection")) as [Socket];
  server.close();
  onTestFinished(async () => {
    socket.destroy();
    await peer.terminate();
  });
  return { port: socketSync(socket)!, socket };
}

/** Receives until so many frames have come. */
function take(port: SyncPort, count: number): unknown[] {
  const frames: unknown[] = [];
  while (frames.length < count) frames.push(...port.receive(LONG_MS)!);
  return frames;
}

it("gives the answers in their order", async () => {
  const { port } = await line();
  port.send(["echoa", "echob"], LONG_MS);
  port.send(["echoc"], LONG_MS);
  expect(take(port, 3)).toEqual(["a", "b", "c"]);
});

it("carries frames that are far larger than any buffer on the way, in both directions", async () => {
  const { port } = await line();
  const large = "ä".repeat(4_000_000);
  port.send([`echo${large}`, "long9000000"], LONG_MS);
  const [echo, long] = take(port, 2) as [string, string];
  expect(echo === large).toBe(true);
  expect(long).toHaveLength(9_000_000);
});

it("gives nothing when time is up, and takes no longer", async () => {
  const { port } = await line();
  const startedMs = performance.now();
  expect(port.receive(50)).toEqual([]);
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(50);
});

it("an answer that came while no caller blocked is not taken for the next one's, and does not break its frames", async () => {
  const { port, socket } = await line();
  port.send(["latefirst"], LONG_MS);
  expect(port.receive(1)).toEqual([]);
  await once(socket, "data");
  port.send(["echosecond"], LONG_MS);
  expect(take(port, 1)).toEqual(["second"]);
});

it("what the other side did not take in time goes ahead of the next", async () => {
  const { port } = await line();
  const large = "x".repeat(8_000_000);
  port.send(["deaf300"], LONG_MS);
  const startedMs = performance.now();
  port.send([`echo${large}`], 20);
  expect(performance.now() - startedMs).toBeLessThan(300);
  port.send(["echo!"], LONG_MS);
  const [first, second] = take(port, 2);
  expect(first === large).toBe(true);
  expect(second).toBe("!");
});

it("says at once that the other side has hung up", async () => {
  const { port } = await line();
  port.send(["away"], LONG_MS);
  const startedMs = performance.now();
  expect(port.receive(LONG_MS)).toBeUndefined();
  expect(performance.now() - startedMs).toBeLessThan(LONG_MS / 2);
  port.send(["echo"], LONG_MS);
  expect(port.receive(LONG_MS)).toBeUndefined();
});

it("does not touch a descriptor that was closed, and may be another's by now", async () => {
  const { port, socket } = await line();
  socket.destroy();
  await sleep(0);
  port.send(["echo"], LONG_MS);
  expect(port.receive(LONG_MS)).toBeUndefined();
});

it("a frame above the limit is refused before it is buffered, while blocking and while not", async () => {
  const blocking = await line();
  blocking.port.send(["huge"], LONG_MS);
  expect(() => blocking.port.receive(LONG_MS)).toThrow(RangeError);
  const waiting = await line();
  const closed = once(waiting.socket, "close").catch(() => {});
  waiting.port.send(["huge"], LONG_MS);
  await closed;
  expect(waiting.port.receive(LONG_MS)).toBeUndefined();
});
