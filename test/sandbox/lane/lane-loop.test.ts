/** A lane reads its links after every long turn. */
import { writeSync } from "node:fs";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { expect, it } from "vitest";
import { LaneLoop } from "../../../src/sandbox/lane/lane-loop.ts";

it("a long turn in a link's own callback is followed by reading all links, before the next long turn", async () => {
  await using server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const main = await pair(server.address() as AddressInfo, server);
  const sync = await pair(server.address() as AddressInfo, server);
  const order: string[] = [];
  const outbox = { isServing: false, flush() {}, flushInTime() {} };
  const poller = { isOn: false, start() {} };
  const loop = new LaneLoop(outbox as never, poller as never, () => {});
  const queue = loop.turns.queue(() => false);
  const over = Promise.withResolvers<void>();
  const turn = (name: string, then: () => void): void =>
    queue.add({
      call: undefined,
      run() {
        order.push(name);
        loop.tookLong();
        then();
      },
    });
  main.lane.once("data", () => {
    // The host writes to the other link while the turn lasts.
    turn("first turn", () => writeSync((sync.host as unknown as { _handle: { fd: number } })._handle.fd, "x"));
    turn("second turn", over.resolve);
    loop.begin();
    loop.end(false);
  });
  sync.lane.once("data", () => order.push("sync link"));
  main.host.write("x");
  await over.promise;
  expect(order).toEqual(["first turn", "sync link", "second turn"]);
  for (const socket of [main.host, main.lane, sync.host, sync.lane]) socket.destroy();
});

async function pair({ port }: AddressInfo, server: ReturnType<typeof createServer>): Promise<{ host: Socket; lane: Socket }> {
  const accepted = once(server, "connection") as Promise<[Socket]>;
  const host = connect(port, "127.0.0.1");
  await once(host, "connect");
  const [lane] = await accepted;
  return { host, lane };
}
