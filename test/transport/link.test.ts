/** Frames on a port arrive in order and once, whether a poll finds them or the event loop delivers them. */
import { once } from "node:events";
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import { setImmediate as turn } from "node:timers/promises";
import * as fc from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import { PORT_SIGNALS_BYTES, portLink } from "../../src/transport/link.ts";
import type { Link } from "../../src/transport/link.ts";

interface Ends {
  readonly near: Link;
  readonly far: Link;
  /** Frames that the near end has received, by batch. */
  readonly received: (readonly string[])[];
  readonly port: MessagePort;
  /** How often the near end's port was read. */
  readonly receives: () => number;
}

function ends(): Ends {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const memory = new Int32Array(new SharedArrayBuffer(PORT_SIGNALS_BYTES));
  let receives = 0;
  const receive = (port: MessagePort): { message: unknown } | undefined => {
    if (port === port1) receives += 1;
    return receiveMessageOnPort(port);
  };
  const near = portLink(port1, { signals: { memory, mine: 0, receive } });
  const far = portLink(port2, { signals: { memory, mine: 1, receive } });
  const received: (readonly string[])[] = [];
  near.onFrames((frames) => received.push(frames));
  return { near, far, received, port: port1, receives: () => receives };
}

it("a poll hands over all that has come, in order and in the batches that were sent", () => {
  const { near, far, received } = ends();
  far.send(["a"]);
  far.send(["b", "c"]);
  far.send(["d"]);
  expect(near.poll!()).toBe(true);
  expect(received).toEqual([["a"], ["b", "c"], ["d"]]);
});

it("a frame in parts arrives in parts, alone or among others", () => {
  const { near, far, received } = ends();
  far.send([["a", "b"]]);
  far.send(["c", ["d", "e", "f"], "g"]);
  near.poll!();
  expect(received).toEqual([[["a", "b"]], ["c", ["d", "e", "f"], "g"]]);
});

it("a poll is false when nothing has come, and when all was handed over already", () => {
  const { near, far, received } = ends();
  expect(near.poll!()).toBe(false);
  far.send(["a"]);
  expect(near.poll!()).toBe(true);
  expect(near.poll!()).toBe(false);
  expect(received).toEqual([["a"]]);
});

it("a poll does not touch the port, whose lock the sender needs, before the peer has signalled a message", () => {
  const { near, far, receives } = ends();
  for (let at = 0; at < 100; at++) near.poll!();
  expect(receives()).toBe(0);
  far.send(["a"]);
  near.poll!();
  const before = receives();
  expect(before).toBeGreaterThan(0);
  for (let at = 0; at < 100; at++) near.poll!();
  expect(receives()).toBe(before);
});

it("a message is signalled to the peer and not to its sender", () => {
  const { near, far, receives } = ends();
  near.send(["a"]);
  expect(near.poll!()).toBe(false);
  expect(receives()).toBe(0);
  const received: (readonly string[])[] = [];
  far.onFrames((frames) => received.push(frames));
  expect(far.poll!()).toBe(true);
  expect(received).toEqual([["a"]]);
});

it("what the event loop has brought is not handed over again, and a poll that finds nothing else is false", async () => {
  const { near, far, received, port } = ends();
  const brought = once(port, "message");
  far.send(["a", "b"]);
  await brought;
  expect(received).toEqual([["a", "b"]]);
  expect(near.poll!()).toBe(false);
  far.send(["c"]);
  expect(near.poll!()).toBe(true);
  expect(received).toEqual([["a", "b"], ["c"]]);
});

it("what a poll has handed over is not brought again by the event loop", async () => {
  const { near, far, received, port } = ends();
  far.send(["a"]);
  near.poll!();
  const brought = once(port, "message");
  far.send(["b"]);
  await brought;
  expect(received).toEqual([["a"], ["b"]]);
});

it("a poll in the middle of a delivery goes on behind the frames that are being delivered", () => {
  const { near, far } = ends();
  const received: string[] = [];
  near.onFrames((frames) => {
    received.push(...frames);
    near.poll!();
  });
  far.send(["a"]);
  expect(near.poll!()).toBe(true);
  far.send(["b"]);
  far.send(["c"]);
  expect(near.poll!()).toBe(true);
  expect(received).toEqual(["a", "b", "c"]);
});

it("polls and turns of the event loop, in any order, hand over each frame once and in order", async () => {
  const step = fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 1, max: 3 }) }, fc.constantFrom("poll" as const, "turn" as const));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { near, far, received, port } = ends();
      const sent: string[] = [];
      for (const one of steps) {
        if (one === "turn") await turn();
        else if (one === "poll") near.poll!();
        else {
          const frames = Array.from({ length: one }, (_, at) => `${sent.length + at}`);
          sent.push(...frames);
          far.send(frames);
        }
      }
      near.poll!();
      port.close();
      await once(port, "close");
      expect(received.flat()).toEqual(sent);
    }),
    { numRuns: 200 },
  );
});

it("a link without signals has no poll", () => {
  const { port1 } = new MessageChannel();
  onTestFinished(() => port1.close());
  expect(portLink(port1)).not.toHaveProperty("poll");
});

it("says when the other end is closed", async () => {
  const { near, far } = ends();
  const ended = new Promise((resolve) => near.onEnd(resolve));
  far.close();
  expect(await ended).toBe("the port was closed");
});
