/** Frames on a socket: whatever the kernel takes at once and whatever has to wait, they arrive whole and in order. */
import { once } from "node:events";
import { writeSync } from "node:fs";
import { connect, createServer } from "node:net";
import type { Server, Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { socketLink } from "../../src/transport/socket-link.ts";
import type { WriteNow } from "../../src/transport/socket-link.ts";
import { folder, QUICK } from "../support/files.ts";

describe.each([
  ["through the stream", undefined],
  ["past the stream", writeSync],
  ["past the stream, one byte at a time", (fd: number, bytes: Uint8Array) => writeSync(fd, bytes.subarray(0, 1))],
] satisfies [string, WriteNow | undefined][])("frames that are written %s", (_, writeNow) => {
  const path = join(folder({}, QUICK), "link.sock");
  let server: Server;
  beforeAll(async () => {
    server = createServer().listen(path);
    await once(server, "listening");
  });
  afterAll(() => server.close());

  async function pair(): Promise<[Socket, Socket]> {
    const accepted = once(server, "connection") as Promise<[Socket]>;
    const near = connect(path);
    const [far] = await accepted;
    return [near, far];
  }

  it("arrive whole and in order, also when the other side reads late and the kernel's buffer is full", async () => {
    const [near, far] = await pair();
    const sender = socketLink(near, { writeNow });
    const sent = Array.from({ length: 300 }, (_unused, at) => `${at} ${"x".repeat((at * 7919) % 20_000)}`);
    for (let at = 0; at < sent.length; at += 3) sender.send(sent.slice(at, at + 3));
    expect(near.writableLength).toBeGreaterThan(0);
    const received: string[] = [];
    await new Promise<void>((resolve) =>
      socketLink(far).onFrames((frames) => {
        received.push(...frames);
        if (received.length === sent.length) resolve();
      }),
    );
    expect(received).toEqual(sent);
    // Once all is gone, the short way is open again.
    const last = new Promise((resolve) => socketLink(far).onFrames(resolve));
    sender.send(["last"]);
    expect(await last).toEqual(["last"]);
    sender.close();
  });

  it("end the link when the other side is gone", async () => {
    const [near, far] = await pair();
    const link = socketLink(near, { writeNow });
    const ended = new Promise((resolve) => link.onEnd(resolve));
    far.destroy();
    await once(far, "close");
    link.send(["x"]);
    link.send(["y"]);
    link.onFrames(() => {});
    expect(await ended).toEqual(expect.any(String));
    link.send(["sent after the end"]);
  });
});
