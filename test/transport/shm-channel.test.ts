/**
 * The shared-memory channel: every message comes out whole, once and in order, whatever the peer does between any two steps of this side;
 * no message is left when both sides have stopped polling; and nothing that a hostile peer writes does any harm.
 */
import { EventEmitter, once } from "node:events";
import { fstatSync, ftruncateSync, readSync, writeSync } from "node:fs";
import type { Socket } from "node:net";
import { Worker } from "node:worker_threads";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openShmChannel } from "../../src/host/supervisor/launch/shm-files.ts";
import { LARGE_BYTES, BODY_BYTES, SHM_FILE_BYTES, ShmChannel, shmFiles, POLL_MODE } from "../../src/transport/shm-channel.ts";
import type { ShmFiles } from "../../src/transport/shm-channel.ts";
import { writeRecord } from "../../src/transport/shm-record.ts";
import { QUIET_MS, socketLink } from "../../src/transport/socket-link.ts";
import { thrownBy } from "../support/errors.ts";

const PAGE_BYTES = 4096;
const RECORD_BYTES = 16 * 1024;
const HEADER_BYTES = RECORD_BYTES - BODY_BYTES;
/** A file as long as this is truncated as soon as possible. */
const LONG_BYTES = SHM_FILE_BYTES - 2 * RECORD_BYTES;

/** A file as the kernel has it: it grows page by page, and others may look at it, or write, before and socketOffset each page. */
class MemoryFile {
  #bytes = Buffer.alloc(2 * SHM_FILE_BYTES);
  length = 0;
  longest = 0;
  begun = 1;

  read(into: Uint8Array, length: number, at: number): number {
    // Node would throw another error.
    if (!Number.isSafeInteger(at) || at < 0 || length > into.length) throw new Error(`read ${length} bytes at ${at}`);
    const found = this.#bytes.subarray(at, Math.max(at, Math.min(at + length, this.length)));
    into.set(found);
    return found.length;
  }

  write(bytes: Uint8Array, at: number): void {
    while (at + bytes.length > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], 2 * this.#bytes.length);
    this.#bytes.set(bytes, at);
    this.length = Math.max(this.length, at + bytes.length);
    this.longest = Math.max(this.longest, this.length);
  }

  shrink(length: number): void {
    this.#bytes.fill(0, length, this.length);
    this.length = length;
    if (length === 0) this.begun += 1;
  }
}

/** The files that one side writes. */
type Way<File = MemoryFile> = readonly [File, File];

function way(): Way {
  return [new MemoryFile(), new MemoryFile()];
}

function longestOf(...ways: readonly Way[]): number {
  return Math.max(...ways.flat().map(({ longest }) => longest));
}

function memoryFiles(own: Way, other: Way, turn = () => {}): ShmFiles {
  return {
    read: (which, into, length, at) => {
      turn();
      return other[which].read(into, length, at);
    },
    write: (which, bytes, from, length, at) => {
      for (let done = 0; done < length;) {
        const upTo = Math.min(length, done + PAGE_BYTES - ((at + done) % PAGE_BYTES));
        own[which].write(bytes.subarray(from + done, from + upTo), at + done);
        turn();
        done = upTo;
      }
    },
    clear: (which) => {
      own[which].shrink(0);
      turn();
    },
  };
}

/** Two sides. `a` writes its messages into `files`, small ones into the first of them. */
function pair(turn?: () => void): { a: ShmChannel; b: ShmChannel; file: MemoryFile; files: Way } {
  const [files, others] = [way(), way()];
  return { a: new ShmChannel(memoryFiles(files, others, turn)), b: new ShmChannel(memoryFiles(others, files)), file: files[0], files };
}

/** All unread messages, as text. */
function takenBy(channel: ShmChannel): string[] {
  const messages: string[] = [];
  for (let message = channel.peek(); message; message = channel.peek()) {
    messages.push(message.bytes.toString());
    channel.take();
  }
  return messages;
}

function post(channel: ShmChannel, text: string, pollMode: keyof typeof POLL_MODE = "oneShot"): void {
  expect(channel.canSend).toBe(true);
  channel.send(channel.sendBuffer.write(text), 0, POLL_MODE[pollMode]);
}

const SHM_CHANNEL = new URL("../../src/transport/shm-channel.ts", import.meta.url);
/** Takes messages as fast as they come, and reports how many were correct. */
const READER = `
  const { parentPort, workerData: { module, lane, count, untilMs } } = require("node:worker_threads");
  import(module).then(({ ShmChannel, shmFiles }) => {
    const channel = new ShmChannel(shmFiles(lane.writers, lane.readers, require("node:fs")));
    let whole = 0;
    let at = 0;
    while (at < count && Date.now() < untilMs) {
      channel.startPolling();
      const message = channel.peek();
      if (!message) {
        channel.stopPolling();
        continue;
      }
      if (message.socketOffset === at && message.bytes.every((byte) => byte === at % 256)) whole += 1;
      channel.take();
      at += 1;
    }
    parentPort.postMessage({ whole, read: at });
  });
`;

describe("messages", () => {
  it("arrive unchanged and in order, each with the number of bytes sent on the socket before it", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: BODY_BYTES }), fc.nat()), { maxLength: 12 }), (messages) => {
        const { a, b } = pair();
        b.startPolling();
        a.peek();
        for (const [bytes, socketOffset] of messages) {
          a.sendBuffer.set(bytes);
          a.send(bytes.length, socketOffset, POLL_MODE.oneShot);
        }
        for (const [bytes, socketOffset] of messages) {
          expect(b.peek()).toEqual({ socketOffset, bytes: Buffer.from(bytes) });
          b.take();
        }
        expect(b.peek()).toBeUndefined();
      }),
    );
  });

  it("stay until they are taken", () => {
    const { a, b } = pair();
    b.startPolling();
    a.peek();
    post(a, "first");
    post(a, "second");
    expect(b.peek()?.bytes.toString()).toBe("first");
    expect(b.peek()?.bytes.toString()).toBe("first");
    b.take();
    expect(takenBy(b)).toEqual(["second"]);
  });

  it("are not read before they are whole, wherever a page boundary cuts them", () => {
    for (const length of [1, 2_000, BODY_BYTES]) {
      for (let before = 1; before <= PAGE_BYTES; before += 97) {
        const seen: (string | undefined)[] = [];
        const { a, b } = pair(() => seen.push(b.peek()?.bytes.toString()));
        b.startPolling();
        a.peek();
        post(a, "x".repeat(Math.min(before, BODY_BYTES)));
        takenBy(b);
        seen.length = 0;
        post(a, "y".repeat(length));
        expect(seen.filter((text) => text !== undefined)).toEqual(["y".repeat(length)]);
        expect(seen.at(-1)).toBeDefined();
      }
    }
  });

  it("go through real files, which never exceed their limit", () => {
    const shm = openShmChannel()!;
    onTestFinished(() => shm.close());
    const lane = new ShmChannel(shmFiles(shm.lane.writers, shm.lane.readers, { readSync, writeSync, ftruncateSync }));
    let longest = 0;
    let begunAnew = 0;
    for (let at = 0, before = 0; at < 2_000; at++) {
      lane.startPolling();
      shm.channel.peek();
      post(shm.channel, `${at}${"x".repeat((at * 7919) % (at % 10 === 0 ? BODY_BYTES - 4 : LARGE_BYTES - 4))}`);
      expect(Number.parseInt(takenBy(lane)[0]!)).toBe(at);
      post(lane, `${at}`, "continuous");
      expect(takenBy(shm.channel)).toEqual([`${at}`]);
      const sizes = shm.lane.readers.map((fd) => fstatSync(fd).size);
      const size = sizes[0]! + sizes[1]!;
      if (size < before) begunAnew += 1;
      before = size;
      longest = Math.max(longest, ...sizes, ...shm.lane.writers.map((fd) => fstatSync(fd).size));
    }
    expect(begunAnew).toBeGreaterThan(5);
    expect(longest).toBeLessThanOrEqual(SHM_FILE_BYTES);
  });

  it("arrive whole in a thread that polls all the time, while files are written and truncated", async () => {
    const shm = openShmChannel()!;
    onTestFinished(() => shm.close());
    const untilMs = Date.now() + 8_000;
    const reader = new Worker(READER, { eval: true, workerData: { module: SHM_CHANNEL.href, lane: shm.lane, count: 5_000, untilMs } });
    const ended = once(reader, "message");
    for (let at = 0; at < 5_000 && Date.now() < untilMs;) {
      shm.channel.peek();
      if (!shm.channel.canSend) {
        shm.channel.stopPolling();
        continue;
      }
      const length = 1 + ((at * 7919) % BODY_BYTES);
      shm.channel.sendBuffer.fill(at % 256, 0, length);
      shm.channel.send(length, at, POLL_MODE.oneShot);
      at += 1;
    }
    const [{ whole, read }] = (await ended) as [{ whole: number; read: number }];
    expect(whole).toBe(read);
    // On a busy machine time may be up before all of them are read.
    expect(read).toBeGreaterThan(500);
  });
});

describe("a large message", () => {
  const size = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: LARGE_BYTES - 2, max: BODY_BYTES }));

  it("is written over what was read, so the file grows only by its header", () => {
    const { a, b, files } = pair();
    b.startPolling();
    a.peek();
    const exchange = (text: string): void => {
      post(a, text, "continuous");
      expect(takenBy(b)).toEqual([text]);
      post(b, "read", "continuous");
      takenBy(a);
    };
    // Until a file is as long as a message there is nothing to write over.
    for (let at = 0; at < 4; at++) exchange("x".repeat(BODY_BYTES));
    for (let at = 0; at < 1_000; at++) {
      const before = files[0].length + files[1].length;
      exchange(`${at} `.padEnd(BODY_BYTES - ((at * 7919) % (BODY_BYTES - LARGE_BYTES)), "x"));
      expect(files[0].length + files[1].length).toBe(before + HEADER_BYTES);
    }
  });

  it("is not written over a message that was not read, or that is not known to have been read", () => {
    const { a, b } = pair();
    b.startPolling();
    a.peek();
    const texts = Array.from({ length: 6 }, (_, at) => `${at}`.repeat(LARGE_BYTES));
    const [first, ...others] = texts;
    post(a, first!, "continuous");
    expect(takenBy(b)).toEqual([first]);
    post(b, "read", "continuous");
    takenBy(a);
    for (const text of others) post(a, text, "continuous");
    expect(takenBy(b)).toEqual(others);
    // `b` has read them all, and has not said so.
    for (const text of texts) post(a, text, "continuous");
    expect(takenBy(b)).toEqual(texts);
  });

  it("arrives unchanged among others of any size, however far behind the reader is", () => {
    const turn = fc.record({ size, reads: fc.nat(3), answers: fc.boolean() });
    fc.assert(
      fc.property(fc.array(turn, { minLength: 20, maxLength: 200, size: "max" }), (turns) => {
        const { a, b, files } = pair();
        b.startPolling();
        a.peek();
        const [sent, received]: [string[], string[]] = [[], []];
        const read = (): boolean => {
          const message = b.peek();
          if (message) received.push(message.bytes.toString());
          b.take();
          return message !== undefined;
        };
        for (const one of turns) {
          if (a.canSend) {
            sent.push(`${sent.length} `.padEnd(one.size, "abcdefg"));
            post(a, sent.at(-1)!, "continuous");
          }
          for (let at = 0; at < one.reads; at++) read();
          if (one.answers && b.canSend) post(b, "answer", "continuous");
          takenBy(a);
        }
        while (read());
        expect(received).toEqual(sent);
        expect(longestOf(files)).toBeLessThanOrEqual(SHM_FILE_BYTES);
      }),
      { numRuns: 300 },
    );
  });
});

describe("a side", () => {
  it("that has not said it polls gets no message", () => {
    const { a, b } = pair();
    a.peek();
    expect(a.canSend).toBe(false);
    expect(b.stopPolling()).toBe(false);
  });

  it("that polls once gets one message for each time it says so", () => {
    const { a, b } = pair();
    b.startPolling();
    a.peek();
    for (const text of ["first", "second"]) {
      post(a, text, "oneShot");
      expect(takenBy(b)).toEqual([text]);
      post(b, `answer to the ${text}`, "continuous");
      expect(b.canSend).toBe(false);
      expect(takenBy(a)).toEqual([`answer to the ${text}`]);
    }
  });

  it("that polls once need not say it stopped when its message has come, unless it has sent another meanwhile", () => {
    const { a, b } = pair();
    b.startPolling();
    a.peek();
    post(a, "first", "oneShot");
    takenBy(b);
    post(b, "answer", "continuous");
    post(a, "second", "oneShot");
    expect(takenBy(a)).toEqual(["answer"]);
    expect(takenBy(b)).toEqual(["second"]);
    post(b, "another", "continuous");
    expect(takenBy(a)).toEqual(["another"]);
    expect(a.stopPolling()).toBe(false);
    post(a, "third", "oneShot");
    expect(a.stopPolling()).toBe(true);
  });

  it("that polls continuously gets any number of messages until it says it stopped", () => {
    const { a, b } = pair();
    b.startPolling();
    a.peek();
    const texts = Array.from({ length: 20 }, (_, at) => `${at}`);
    for (const text of texts) post(a, text);
    expect(takenBy(b)).toEqual(texts);
    expect(b.stopPolling()).toBe(true);
    expect(a.canSend).toBe(true);
    a.peek();
    expect(a.canSend).toBe(false);
    expect(b.stopPolling()).toBe(false);
  });

  it("that starts polling twice says so once", () => {
    const { a, b, file } = pair();
    a.startPolling();
    const { length } = file;
    a.startPolling();
    expect(file.length).toBe(length);
    b.peek();
    expect(b.canSend).toBe(true);
  });

  it("that stopped polling before it read a message leaves it stranded; one that read it first does not", () => {
    const { a, b } = pair();
    b.startPolling();
    a.peek();
    post(a, "read");
    takenBy(b);
    post(a, "not read");
    expect(a.isUnread).toBe(true);
    expect(a.isStranded).toBe(false);
    b.stopPolling();
    a.peek();
    expect(a.isStranded).toBe(true);
    takenBy(b);
    b.startPolling();
    a.peek();
    expect(a.isUnread).toBe(false);
    b.stopPolling();
    a.peek();
    expect(a.isStranded).toBe(false);
  });

  it("that stops polling has to poll once more, since the peer may have sent a message meanwhile", () => {
    const { a, b } = pair();
    b.startPolling();
    a.peek();
    post(a, "meanwhile");
    expect(b.stopPolling()).toBe(true);
    expect(takenBy(b)).toEqual(["meanwhile"]);
  });
});

/** Sends until there is no room. Gives how many messages fitted. */
function fill(channel: ShmChannel, messageBytes: number): number {
  let count = 0;
  for (; channel.canSend && count < 1_000; count++) post(channel, "x".repeat(messageBytes), "continuous");
  return count;
}

/** A file that `a` has filled, and `b` has not read. */
function filled(messageBytes: number): ReturnType<typeof pair> & { readonly count: number } {
  const sides = pair();
  sides.b.startPolling();
  sides.a.peek();
  const count = fill(sides.a, messageBytes);
  expect(sides.file.length).toBeGreaterThanOrEqual(LONG_BYTES);
  return { ...sides, count };
}

describe("a long file", () => {
  it("takes no more messages until all of it was read, and is truncated with the next", () => {
    const { a, b, file, count } = filled(1_000);
    a.stopPolling();
    expect(takenBy(b)).toHaveLength(count);
    a.peek();
    expect(a.canSend).toBe(false);
    expect(b.stopPolling()).toBe(true);
    b.startPolling();
    a.peek();
    expect(file.begun).toBe(1);
    post(a, "anew");
    expect(file.begun).toBe(2);
    expect(file.length).toBeLessThan(100);
    expect(takenBy(b)).toEqual(["anew"]);
  });

  it("is not truncated while one of its messages is unread", () => {
    const { a, b, file, count } = filled(1_000);
    // Behind them is a record that says the writer stopped polling.
    a.stopPolling();
    for (let at = 0; at < count; at++) {
      b.peek();
      b.take();
    }
    for (const begun of [1, 2]) {
      b.stopPolling();
      b.startPolling();
      a.peek();
      a.startPolling();
      expect(file.begun).toBe(begun);
      b.peek();
    }
  });

  it("is acknowledged: a reader that has read all of it says so when it stops polling, even if it was not polling", () => {
    const { a, b, file } = filled(1_000);
    b.stopPolling();
    takenBy(b);
    expect(b.stopPolling()).toBe(true);
    expect(b.stopPolling()).toBe(false);
    a.peek();
    a.stopPolling();
    expect(file.begun).toBe(2);
  });

  it("that was truncated is read from its beginning, even if it has grown past its old length meanwhile", () => {
    const { a, b, file } = filled(3_000);
    takenBy(b);
    b.stopPolling();
    b.startPolling();
    a.peek();
    const before = file.length;
    const count = fill(a, 2_900);
    expect(file.begun).toBe(2);
    expect(file.length).toBeGreaterThan(before + HEADER_BYTES);
    expect(takenBy(b)).toHaveLength(count);
  });

  it("never exceeds its limit, even if both sides keep acknowledging at the same time", () => {
    const { a, b, file } = pair();
    a.startPolling();
    b.startPolling();
    for (const side of [a, b]) {
      side.peek();
      fill(side, 1_000);
    }
    for (let at = 0; at < 1_000; at++) {
      takenBy(a);
      a.stopPolling();
      b.stopPolling();
      takenBy(b);
    }
    expect(file.longest).toBeLessThanOrEqual(SHM_FILE_BYTES);
  });
});

/** A socket that delivers bytes when the test says so. */
class PlayedSocket extends EventEmitter {
  destroyed = false;
  broken: Error | undefined;
  readonly writableLength = 0;
  other!: PlayedSocket;
  #arriving: Buffer[] = [];

  get isIdle(): boolean {
    return this.#arriving.length === 0;
  }

  write(bytes: Buffer): void {
    this.other.#arriving.push(bytes);
  }

  deliver(most: number): void {
    if (this.isIdle) return;
    const all = Buffer.concat(this.#arriving);
    this.#arriving = all.length > most ? [all.subarray(most)] : [];
    this.emit("data", all.subarray(0, most));
  }

  destroy(error: Error): void {
    this.destroyed = true;
    this.broken = error;
  }
}

/** One end of a link as its user uses it: transport/busy-poll.ts. */
class End {
  readonly socket = new PlayedSocket();
  readonly files = way();
  readonly sent: string[] = [];
  readonly received: string[] = [];
  isPolling = false;
  #link!: ReturnType<typeof socketLink>;

  connect(other: End, pollMode: "oneShot" | "continuous", turn: () => void, received: (frames: readonly string[]) => void): void {
    this.socket.other = other.socket;
    const channel = new ShmChannel(memoryFiles(this.files, other.files, turn));
    this.#link = socketLink(this.socket as unknown as Socket, { shm: { channel, pollMode } });
    this.#link.onFrames((frames) => {
      this.received.push(...frames);
      received(frames);
    });
  }

  send(size: number): void {
    const frame = `${this.sent.length}`.padEnd(size, "€");
    this.sent.push(frame);
    this.#link.send([frame]);
  }

  poll(): void {
    if (this.isPolling) this.#link.poll!();
  }

  startPolling(): void {
    if (!this.isPolling) this.#link.startPolling!();
    this.isPolling = true;
  }

  stopPolling(): void {
    if (!this.isPolling) return;
    this.isPolling = false;
    this.#link.stopPolling!();
  }

  kick(): void {
    this.#link.kick!();
  }
}

type Who = "host" | "lane";
type Step =
  | { readonly who: Who; readonly does: "send"; readonly size: number; readonly times: number }
  | { readonly who: "host"; readonly does: "call"; readonly size: number; readonly times: number }
  | { readonly who: Who; readonly does: "hear"; readonly bytes: number }
  | { readonly who: Who; readonly does: "poll" | "stopPolling" }
  | { readonly who: "host"; readonly does: "kick" | "wait" }
  | { readonly who: "lane"; readonly does: "press" };

/** Steps in random order, by weight. */
function steps(maxLength: number, { sizes, bursts, stops }: { sizes: readonly number[]; bursts: number; stops: number }) {
  const who = fc.constantFrom<Who>("host", "lane");
  const size = fc.constantFrom(...sizes);
  // Enough to make a file long.
  const times = fc.oneof({ weight: 10, arbitrary: fc.constant(1) }, { weight: bursts, arbitrary: fc.constant(30) });
  const bytes = fc.constantFrom(1, 5, 30, Infinity, Infinity);
  const others = fc.constantFrom({ who: "host", does: "kick" }, { who: "host", does: "wait" }, { who: "lane", does: "press" });
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ who: fc.constant("host"), does: fc.constant("call"), size, times }) },
    { weight: 1, arbitrary: fc.record({ who, does: fc.constant("send"), size, times }) },
    { weight: 4, arbitrary: fc.record({ who, does: fc.constant("hear"), bytes }) },
    { weight: 8, arbitrary: fc.record({ who, does: fc.constant("poll") }) },
    { weight: stops, arbitrary: fc.record({ who, does: fc.constant("stopPolling") }) },
    { weight: stops, arbitrary: others },
  ) as fc.Arbitrary<Step>;
  return fc.array(step, { maxLength, size: "max" });
}

/** So many characters fit into a message, however many bytes each takes. */
const LONGEST = Math.floor((BODY_BYTES - 4) / 3);
const STOPPING = { sizes: [0, 1, 20, 1_000, LONGEST, LONGEST + 1], bursts: 0, stops: 2 };
const BUSY = { sizes: [500, 1_000, 1_300, LONGEST], bursts: 3, stops: 1 };

/** Host and lane. Between any two file operations of one side, the other side may take a step. */
class Conversation {
  readonly host = new End();
  readonly lane = new End();
  #isCpuBusy = false;
  /** What one side does while the other is in the middle of a step. */
  readonly #meanwhile: Step[];
  #acting: Who | undefined;

  constructor(meanwhile: readonly Step[]) {
    this.#meanwhile = [...meanwhile];
    const turn = (): void => {
      const actor = this.#acting;
      const next = actor && this.#meanwhile.shift();
      if (!next || next.who === actor) return;
      this.#acting = undefined;
      this.#do(next);
      this.#acting = actor;
    };
    this.host.connect(this.lane, "oneShot", turn, () => {});
    this.lane.connect(this.host, "continuous", turn, (frames) => {
      for (const frame of frames) this.lane.send(frame.length);
      if (!this.#isCpuBusy) this.lane.startPolling();
    });
  }

  do(next: Step): void {
    this.#acting = next.who;
    this.#do(next);
    this.#acting = undefined;
  }

  /** Both stop polling, and everything on its way arrives. */
  end(): void {
    for (let at = 0; [this.host, this.lane].some(({ isPolling, socket }) => isPolling || !socket.isIdle); at++) {
      if (at > 1_000) throw new Error("endless");
      for (const one of ["lane", "host"] as const) {
        this.do({ who: one, does: "stopPolling" });
        this.do({ who: one, does: "hear", bytes: Infinity });
      }
    }
  }

  #do(next: Step): void {
    const end = this[next.who];
    switch (next.does) {
      case "send":
      case "call":
        if (next.does === "call") end.startPolling();
        for (let at = 0; at < next.times; at++) end.send(next.size);
        return;
      case "hear":
        return end.socket.deliver(next.bytes);
      case "press":
        this.#isCpuBusy = !this.#isCpuBusy;
        return;
      case "wait":
        clockMs += QUIET_MS + 1;
        return;
      default:
        return end[next.does]();
    }
  }
}

let clockMs = 0;

/** Time passes when a step says so: a peer that was seen to poll still polls. */
function stopClock(): void {
  clockMs = 0;
  vi.spyOn(performance, "now").mockImplementation(() => clockMs);
  onTestFinished(() => void vi.restoreAllMocks());
}

describe("a conversation", () => {
  it("a peer that has sent nothing for a while is taken to have stopped polling, and its files are not even read", () => {
    stopClock();
    const [host, lane] = [new End(), new End()];
    let reads = 0;
    host.connect(
      lane,
      "oneShot",
      () => void (reads += 1),
      () => {},
    );
    lane.connect(
      host,
      "continuous",
      () => {},
      () => {},
    );
    lane.startPolling();
    host.startPolling();
    host.send(1);
    expect(host.socket.other.isIdle).toBe(true);
    reads = 0;
    clockMs += QUIET_MS + 1;
    host.send(1);
    expect([reads, lane.socket.isIdle]).toEqual([0, false]);
    lane.poll();
    lane.socket.deliver(Infinity);
    expect(lane.received).toEqual(host.sent);
  });

  it("a side that stopped polling with a message unread is woken, even if that shows only behind a message that waited for the socket", () => {
    stopClock();
    const conversation = new Conversation([]);
    const call: Step = { who: "host", does: "call", size: 0, times: 1 };
    const told: Step[] = [
      call,
      // It answers over the socket, and polls from now on.
      { who: "lane", does: "hear", bytes: Infinity },
      { who: "host", does: "poll" },
      call,
      { who: "lane", does: "poll" },
      { who: "lane", does: "stopPolling" },
      call,
      { who: "host", does: "stopPolling" },
    ];
    for (const one of told) conversation.do(one);
    expect(conversation.lane.received).toEqual(["0", "1"]);
    expect(conversation.host.received).toEqual([]);
    conversation.end();
    expect(conversation.lane.received).toEqual(["0", "1", "2"]);
    expect(conversation.host.received).toEqual(["0", "1", "2"]);
  });

  it.each([
    ["of sides that keep stopping", STOPPING, 2_000],
    ["of busy sides", BUSY, 600],
  ])(
    "%s: every frame arrives once and in order, whichever way it went, and none is left when both have stopped polling",
    (_, day, numRuns) => {
      stopClock();
      fc.assert(
        fc.property(steps(100, day), steps(100, day), (told, meanwhile) => {
          const conversation = new Conversation(meanwhile);
          for (const one of told) conversation.do(one);
          conversation.end();
          const { host, lane } = conversation;
          expect([host.socket.broken, lane.socket.broken]).toEqual([undefined, undefined]);
          expect(lane.received).toEqual(host.sent);
          expect(host.received).toEqual(lane.sent);
          expect(longestOf(host.files, lane.files)).toBeLessThanOrEqual(SHM_FILE_BYTES);
        }),
        { numRuns, interruptAfterTimeLimit: 10_000 },
      );
    },
  );
});

/** More reads than any valid file needs. */
const MOST_READS = 10_000;

interface HostileRecord {
  readonly number: number;
  readonly socketOffset: number;
  readonly read: number;
  readonly length: number;
  readonly pollMode: number;
  readonly body: Uint8Array;
}

/** A file written by a hostile peer. */
class HostileFile extends MemoryFile {
  /** The number of the next record, in either file, for a reader that reads all of them. */
  readonly #count: { next: number };

  constructor(count: { next: number }) {
    super();
    this.#count = count;
  }

  append(more: Partial<HostileRecord> = {}, at = this.length): void {
    const { number, socketOffset, read, length, pollMode, body } = {
      number: this.#count.next,
      socketOffset: 0,
      read: 0,
      length: 0,
      pollMode: 0,
      body: Buffer.alloc(0),
      ...more,
    };
    const header = Buffer.from(new Float64Array([number, socketOffset, read, length, pollMode]).buffer);
    const padding = Buffer.alloc(-body.length & 7);
    this.write(Buffer.concat([header, body, padding]), at);
    if (number === this.#count.next) this.#count.next += 1;
  }

  /** With whole records, so that the next read is where the file is long. */
  lengthen(): void {
    while (this.length < LONG_BYTES) this.append({ length: 1_000, body: Buffer.alloc(1_000) });
  }
}

/** A side whose peer is hostile. It may do a bounded number of reads in one step. */
class Victim {
  readonly own = way();
  readonly #count = { next: 1 };
  readonly others: Way<HostileFile> = [new HostileFile(this.#count), new HostileFile(this.#count)];
  readonly other = this.others[0];
  readonly channel: ShmChannel;
  #reads = 0;

  /** `isRead` is called just before each read of a hostile file. */
  constructor(isRead: (at: number) => unknown = () => {}) {
    const files = memoryFiles(this.own, this.others);
    this.channel = new ShmChannel({
      ...files,
      read: (which, into, length, at) => {
        this.#reads += 1;
        if (this.#reads > MOST_READS) throw new Error("endless");
        isRead(at);
        return files.read(which, into, length, at);
      },
    });
  }

  /** Gives what it threw. */
  does(act: () => unknown): unknown {
    this.#reads = 0;
    return thrownBy(act);
  }
}

const number = fc.oneof(fc.nat(5), fc.double(), fc.constantFrom(NaN, Infinity, -Infinity, -1, 0.5, 2 ** 53, SHM_FILE_BYTES));
const hostileRecord = fc.record(
  {
    number,
    socketOffset: number,
    read: number,
    length: fc.oneof(
      fc.nat(100),
      fc.nat(BODY_BYTES + 1),
      fc.nat(BODY_BYTES + 1).map((length) => -length),
      fc.double(),
      fc.constantFrom(0, BODY_BYTES, BODY_BYTES + 1, 2 ** 32, -1, -BODY_BYTES, 0.5, -0, NaN, Infinity, -Infinity),
    ),
    pollMode: fc.oneof(fc.nat(4), fc.nat()),
    body: fc.uint8Array({ maxLength: 200 }),
  },
  { requiredKeys: [] },
);
const place = fc.oneof(fc.constant(0), fc.nat(SHM_FILE_BYTES));
const attack: fc.Arbitrary<(file: HostileFile) => void> = fc.oneof(
  { weight: 4, arbitrary: hostileRecord.map((record) => (file: HostileFile) => file.append(record)) },
  fc.tuple(hostileRecord, place).map(
    ([record, at]) =>
      (file: HostileFile) =>
        file.append(record, at),
  ),
  fc.tuple(fc.uint8Array({ maxLength: 100 }), place).map(
    ([bytes, at]) =>
      (file: HostileFile) =>
        file.write(bytes, at),
  ),
  place.map((length) => (file: HostileFile) => file.shrink(Math.min(length, file.length))),
  fc.constant((file: HostileFile) => file.lengthen()),
);
const move: fc.Arbitrary<(channel: ShmChannel) => void> = fc.constantFrom(
  (channel) => channel.take(),
  (channel) => channel.startPolling(),
  (channel) => void channel.stopPolling(),
  (channel) => channel.canSend && channel.send(1_000, 0, POLL_MODE.oneShot),
  (channel) => channel.canSend && channel.send(BODY_BYTES, 0, POLL_MODE.continuous),
);

function recordOf(frames: readonly string[]): Buffer {
  const body = Buffer.alloc(BODY_BYTES);
  return body.subarray(0, writeRecord(body, frames));
}

describe("whatever a hostile peer writes", () => {
  it("gives a message within the limit, nothing, or a RangeError; and our own file never exceeds its limit", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(attack, move, fc.constantFrom(0, 0, 1)), { maxLength: 60, size: "max" }), (turns) => {
        const victim = new Victim();
        for (const [attacks, moves, which] of turns) {
          attacks(victim.others[which]);
          const error = victim.does(() => {
            const { bytes, socketOffset } = victim.channel.peek() ?? { bytes: [], socketOffset: 0 };
            expect(bytes.length).toBeLessThanOrEqual(BODY_BYTES);
            expect(socketOffset).not.toBeNaN();
            moves(victim.channel);
          });
          expect(longestOf(victim.own)).toBeLessThanOrEqual(SHM_FILE_BYTES);
          // Then the link ends.
          if (error instanceof RangeError) return;
          expect(error).toBeUndefined();
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it("is refused when its file exceeds the limit, so no reader loops for ever", () => {
    const victim: Victim = new Victim((at) => at >= victim.other.length && victim.other.append());
    expect(victim.does(() => victim.channel.peek())).toBeInstanceOf(RangeError);
  });

  it("does not make a side that stops polling read for ever, though messages come as fast as they are read", () => {
    stopClock();
    const victim: Victim = new Victim((at) => {
      if (at >= LONG_BYTES || (at === 0 && victim.other.length >= LONG_BYTES)) victim.other.shrink(0);
      if (at >= victim.other.length) victim.other.append({ pollMode: POLL_MODE.continuous, length: 3, body: Buffer.from("0,\n") });
    });
    const socket = new PlayedSocket();
    socket.other = new PlayedSocket();
    const link = socketLink(socket as unknown as Socket, { shm: { channel: victim.channel, pollMode: "oneShot" } });
    victim.does(() => {
      link.poll!();
      link.startPolling!();
      link.send(["a"]);
      link.stopPolling!();
    });
    expect(longestOf(victim.own)).toBeGreaterThan(0);
    expect(socket.broken === undefined || socket.broken instanceof RangeError).toBe(true);
  });

  it("does not make our own file exceed its limit by never reading it", () => {
    const victim = new Victim();
    victim.other.lengthen();
    for (let at = 0; at < 1_000; at++) {
      victim.other.append({ pollMode: POLL_MODE.continuous });
      victim.does(() => {
        while (victim.channel.peek()) victim.channel.take();
        if (victim.channel.canSend) victim.channel.send(BODY_BYTES, 0, POLL_MODE.oneShot);
        victim.channel.stopPolling();
      });
    }
    expect(longestOf(victim.own)).toBeGreaterThan(LONG_BYTES);
    expect(longestOf(victim.own)).toBeLessThanOrEqual(SHM_FILE_BYTES);
  });

  it("is delivered as frames, or ends the link, and nothing is thrown at the caller", () => {
    stopClock();
    const frames = fc.array(fc.string({ maxLength: 20 }), { maxLength: 3 }).map((texts) => recordOf(texts));
    const message = fc
      .oneof(frames, fc.uint8Array({ minLength: 1, maxLength: 50 }))
      .chain((body) =>
        fc.record({ socketOffset: number, pollMode: fc.nat(3), read: number, length: fc.constant(body.length), body: fc.constant(body) }),
      );
    const chunk = fc.oneof(frames, fc.uint8Array({ minLength: 1, maxLength: 9 }));
    const act = fc.constantFrom("poll", "stopPolling", "kick", "startPolling");
    fc.assert(
      fc.property(fc.array(fc.tuple(message, chunk, act), { maxLength: 30 }), (turns) => {
        const victim = new Victim();
        const [socket, other] = [new PlayedSocket(), new PlayedSocket()];
        [socket.other, other.other] = [other, socket];
        const link = socketLink(socket as unknown as Socket, { shm: { channel: victim.channel, pollMode: "oneShot" } });
        const received: string[] = [];
        link.onFrames((some) => received.push(...some));
        for (const [record, bytes, does] of turns) {
          victim.other.append(record);
          other.write(Buffer.from(bytes));
          expect(
            victim.does(() => {
              link[does]!();
              link.send(["x"]);
              socket.deliver(Infinity);
            }),
          ).toBeUndefined();
        }
        expect(socket.broken === undefined || socket.broken instanceof RangeError).toBe(true);
        expect(received).not.toContain("");
      }),
      { numRuns: 500 },
    );
  });
});
