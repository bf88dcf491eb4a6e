/**
 * Letters between two processes: what goes in comes out, whole, once and in order, whatever the other side does between any two steps of this one;
 * nothing is forgotten when both sides rest; and nothing that the other side writes does any harm.
 */
import { EventEmitter, once } from "node:events";
import { fstatSync, ftruncateSync, readSync, writeSync } from "node:fs";
import type { Socket } from "node:net";
import { Worker } from "node:worker_threads";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openLetters } from "../../src/host/lanes/letter-files.ts";
import { LARGE_BYTES, LETTER_BYTES, LETTER_FILE_BYTES, LetterBox, letterFiles, LOOKING } from "../../src/protocol/letter-box.ts";
import type { LetterFiles } from "../../src/protocol/letter-box.ts";
import { writeLetter } from "../../src/protocol/letter.ts";
import { socketLink } from "../../src/protocol/socket-link.ts";
import { thrownBy } from "../support/errors.ts";

const PAGE_BYTES = 4096;
const RECORD_BYTES = 16 * 1024;
const HEADER_BYTES = RECORD_BYTES - LETTER_BYTES;
/** A file as long as this is begun anew as soon as it may be. */
const LONG_BYTES = LETTER_FILE_BYTES - 2 * RECORD_BYTES;

/** A file as the kernel has it: it grows page by page, and others may look at it, or write, before and after each page. */
class MemoryFile {
  #bytes = Buffer.alloc(2 * LETTER_FILE_BYTES);
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

/** What one side writes. */
type Way<File = MemoryFile> = readonly [File, File];

function way(): Way {
  return [new MemoryFile(), new MemoryFile()];
}

function longestOf(...ways: readonly Way[]): number {
  return Math.max(...ways.flat().map(({ longest }) => longest));
}

function memoryFiles(own: Way, other: Way, turn = () => {}): LetterFiles {
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

/** Two sides; `a` writes its letters into `files`, small ones into the first of them. */
function pair(turn?: () => void): { a: LetterBox; b: LetterBox; file: MemoryFile; files: Way } {
  const [files, others] = [way(), way()];
  return { a: new LetterBox(memoryFiles(files, others, turn)), b: new LetterBox(memoryFiles(others, files)), file: files[0], files };
}

/** All that lie there, as text. */
function takenBy(box: LetterBox): string[] {
  const letters: string[] = [];
  for (let letter = box.look(); letter; letter = box.look()) {
    letters.push(letter.bytes.toString());
    box.take();
  }
  return letters;
}

function put(box: LetterBox, text: string, looking: keyof typeof LOOKING = "once"): void {
  expect(box.isWatched).toBe(true);
  box.put(box.paper.write(text), 0, LOOKING[looking]);
}

const LETTER_BOX = new URL("../../src/protocol/letter-box.ts", import.meta.url);
/** Takes letters as fast as they come, and says how many were as they should be. */
const READER = `
  const { parentPort, workerData: { module, lane, count, untilMs } } = require("node:worker_threads");
  import(module).then(({ LetterBox, letterFiles }) => {
    const box = new LetterBox(letterFiles(lane.writers, lane.readers, require("node:fs")));
    let whole = 0;
    for (let at = 0; at < count && Date.now() < untilMs; ) {
      box.stayAwake();
      const letter = box.look();
      if (!letter) {
        box.rest();
        continue;
      }
      if (letter.after === at && letter.bytes.every((byte) => byte === at % 256)) whole += 1;
      box.take();
      at += 1;
    }
    parentPort.postMessage(whole);
  });
`;

describe("letters", () => {
  it("come out as they went in, in order, with the bytes that were sent on the socket before each", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: LETTER_BYTES }), fc.nat()), { maxLength: 12 }), (letters) => {
        const { a, b } = pair();
        b.stayAwake();
        a.look();
        for (const [bytes, after] of letters) {
          a.paper.set(bytes);
          a.put(bytes.length, after, LOOKING.once);
        }
        for (const [bytes, after] of letters) {
          expect(b.look()).toEqual({ after, bytes: Buffer.from(bytes) });
          b.take();
        }
        expect(b.look()).toBeUndefined();
      }),
    );
  });

  it("stay where they are until they are taken", () => {
    const { a, b } = pair();
    b.stayAwake();
    a.look();
    put(a, "first");
    put(a, "second");
    expect(b.look()?.bytes.toString()).toBe("first");
    expect(b.look()?.bytes.toString()).toBe("first");
    b.take();
    expect(takenBy(b)).toEqual(["second"]);
  });

  it("are not read before they are whole, wherever a page of the file ends in them", () => {
    for (const length of [1, 2_000, LETTER_BYTES]) {
      for (let before = 1; before <= PAGE_BYTES; before += 97) {
        const seen: (string | undefined)[] = [];
        const { a, b } = pair(() => seen.push(b.look()?.bytes.toString()));
        b.stayAwake();
        a.look();
        put(a, "x".repeat(Math.min(before, LETTER_BYTES)));
        takenBy(b);
        seen.length = 0;
        put(a, "y".repeat(length));
        expect(seen.filter((text) => text !== undefined)).toEqual(["y".repeat(length)]);
        expect(seen.at(-1)).toBeDefined();
      }
    }
  });

  it("go through real files, and those are never longer than they may be", () => {
    const letters = openLetters()!;
    onTestFinished(() => letters.close());
    const lane = new LetterBox(letterFiles(letters.lane.writers, letters.lane.readers, { readSync, writeSync, ftruncateSync }));
    let longest = 0;
    let begunAnew = 0;
    for (let at = 0, before = 0; at < 2_000; at++) {
      lane.stayAwake();
      letters.box.look();
      put(letters.box, `${at}${"x".repeat((at * 7919) % (at % 10 === 0 ? LETTER_BYTES - 4 : LARGE_BYTES - 4))}`);
      expect(Number.parseInt(takenBy(lane)[0]!)).toBe(at);
      put(lane, `${at}`, "always");
      expect(takenBy(letters.box)).toEqual([`${at}`]);
      const sizes = letters.lane.readers.map((fd) => fstatSync(fd).size);
      const size = sizes[0]! + sizes[1]!;
      if (size < before) begunAnew += 1;
      before = size;
      longest = Math.max(longest, ...sizes, ...letters.lane.writers.map((fd) => fstatSync(fd).size));
    }
    expect(begunAnew).toBeGreaterThan(5);
    expect(longest).toBeLessThanOrEqual(LETTER_FILE_BYTES);
  });

  it("come out whole in a thread that looks all the time, while they are written and files are begun anew", async () => {
    const letters = openLetters()!;
    onTestFinished(() => letters.close());
    const untilMs = Date.now() + 8_000;
    const reader = new Worker(READER, { eval: true, workerData: { module: LETTER_BOX.href, lane: letters.lane, count: 5_000, untilMs } });
    const ended = once(reader, "message");
    for (let at = 0; at < 5_000 && Date.now() < untilMs;) {
      letters.box.look();
      if (!letters.box.isWatched) {
        letters.box.rest();
        continue;
      }
      const length = 1 + ((at * 7919) % LETTER_BYTES);
      letters.box.paper.fill(at % 256, 0, length);
      letters.box.put(length, at, LOOKING.once);
      at += 1;
    }
    expect(await ended).toEqual([5_000]);
  });
});

describe("a large letter", () => {
  const size = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: LARGE_BYTES - 2, max: LETTER_BYTES }));

  it("is written over what was read, so that a file grows by no more than its header", () => {
    const { a, b, files } = pair();
    b.stayAwake();
    a.look();
    const exchange = (text: string): void => {
      put(a, text, "always");
      expect(takenBy(b)).toEqual([text]);
      put(b, "read", "always");
      takenBy(a);
    };
    // Until a file is as long as a letter, there is nothing to write over.
    for (let at = 0; at < 4; at++) exchange("x".repeat(LETTER_BYTES));
    for (let at = 0; at < 1_000; at++) {
      const before = files[0].length + files[1].length;
      exchange(`${at} `.padEnd(LETTER_BYTES - ((at * 7919) % (LETTER_BYTES - LARGE_BYTES)), "x"));
      expect(files[0].length + files[1].length).toBe(before + HEADER_BYTES);
    }
  });

  it("is not written over one that was not read, nor over one of which that is not known", () => {
    const { a, b } = pair();
    b.stayAwake();
    a.look();
    const texts = Array.from({ length: 6 }, (_, at) => `${at}`.repeat(LARGE_BYTES));
    const [first, ...others] = texts;
    put(a, first!, "always");
    expect(takenBy(b)).toEqual([first]);
    put(b, "read", "always");
    takenBy(a);
    for (const text of others) put(a, text, "always");
    expect(takenBy(b)).toEqual(others);
    // It has read them all, and has not said so.
    for (const text of texts) put(a, text, "always");
    expect(takenBy(b)).toEqual(texts);
  });

  it("comes out as it went in, among others of any size, however far behind its reader is", () => {
    const turn = fc.record({ size, reads: fc.nat(3), answers: fc.boolean() });
    fc.assert(
      fc.property(fc.array(turn, { minLength: 20, maxLength: 200, size: "max" }), (turns) => {
        const { a, b, files } = pair();
        b.stayAwake();
        a.look();
        const [sent, heard]: [string[], string[]] = [[], []];
        const read = (): boolean => {
          const letter = b.look();
          if (letter) heard.push(letter.bytes.toString());
          b.take();
          return letter !== undefined;
        };
        for (const one of turns) {
          if (a.isWatched) {
            sent.push(`${sent.length} `.padEnd(one.size, "abcdefg"));
            put(a, sent.at(-1)!, "always");
          }
          for (let at = 0; at < one.reads; at++) read();
          if (one.answers && b.isWatched) put(b, "answer", "always");
          takenBy(a);
        }
        while (read());
        expect(heard).toEqual(sent);
        expect(longestOf(files)).toBeLessThanOrEqual(LETTER_FILE_BYTES);
      }),
      { numRuns: 300 },
    );
  });
});

describe("a side", () => {
  it("that has said nothing is not written to", () => {
    const { a, b } = pair();
    a.look();
    expect(a.isWatched).toBe(false);
    expect(b.rest()).toBe(false);
  });

  it("that looks once is written one letter, for each time that it says so", () => {
    const { a, b } = pair();
    b.stayAwake();
    a.look();
    for (const text of ["first", "second"]) {
      put(a, text, "once");
      expect(takenBy(b)).toEqual([text]);
      put(b, `answer to the ${text}`, "always");
      expect(b.isWatched).toBe(false);
      expect(takenBy(a)).toEqual([`answer to the ${text}`]);
    }
  });

  it("that looks once has no need to rest when the letter has come, unless it has written another meanwhile", () => {
    const { a, b } = pair();
    b.stayAwake();
    a.look();
    put(a, "first", "once");
    takenBy(b);
    put(b, "answer", "always");
    put(a, "second", "once");
    expect(takenBy(a)).toEqual(["answer"]);
    expect(takenBy(b)).toEqual(["second"]);
    put(b, "another", "always");
    expect(takenBy(a)).toEqual(["another"]);
    expect(a.rest()).toBe(false);
    put(a, "third", "once");
    expect(a.rest()).toBe(true);
  });

  it("that stays awake is written any number of letters, until it is seen to rest", () => {
    const { a, b } = pair();
    b.stayAwake();
    a.look();
    const texts = Array.from({ length: 20 }, (_, at) => `${at}`);
    for (const text of texts) put(a, text);
    expect(takenBy(b)).toEqual(texts);
    expect(b.rest()).toBe(true);
    expect(a.isWatched).toBe(true);
    a.look();
    expect(a.isWatched).toBe(false);
    expect(b.rest()).toBe(false);
  });

  it("that says twice that it stays awake writes so once", () => {
    const { a, b, file } = pair();
    a.stayAwake();
    const { length } = file;
    a.stayAwake();
    expect(file.length).toBe(length);
    b.look();
    expect(b.isWatched).toBe(true);
  });

  it("that rested before it read a letter has forgotten it, and one that read it first has not", () => {
    const { a, b } = pair();
    b.stayAwake();
    a.look();
    put(a, "read");
    takenBy(b);
    put(a, "not read");
    expect(a.isUnread).toBe(true);
    expect(a.isForgotten).toBe(false);
    b.rest();
    a.look();
    expect(a.isForgotten).toBe(true);
    takenBy(b);
    b.stayAwake();
    a.look();
    expect(a.isUnread).toBe(false);
    b.rest();
    a.look();
    expect(a.isForgotten).toBe(false);
  });

  it("that rests has to look once more, since a letter may have been written meanwhile", () => {
    const { a, b } = pair();
    b.stayAwake();
    a.look();
    put(a, "meanwhile");
    expect(b.rest()).toBe(true);
    expect(takenBy(b)).toEqual(["meanwhile"]);
  });
});

/** Gives how many letters it took. */
function fill(box: LetterBox, letterBytes: number): number {
  let count = 0;
  for (; box.isWatched && count < 1_000; count++) put(box, "x".repeat(letterBytes), "always");
  return count;
}

/** One that was filled by `a`, and not read. */
function filled(letterBytes: number): ReturnType<typeof pair> & { readonly count: number } {
  const sides = pair();
  sides.b.stayAwake();
  sides.a.look();
  const count = fill(sides.a, letterBytes);
  expect(sides.file.length).toBeGreaterThanOrEqual(LONG_BYTES);
  return { ...sides, count };
}

describe("a long file", () => {
  it("takes no more letters until all of it was read, and is begun anew with the next", () => {
    const { a, b, file, count } = filled(1_000);
    a.rest();
    expect(takenBy(b)).toHaveLength(count);
    a.look();
    expect(a.isWatched).toBe(false);
    expect(b.rest()).toBe(true);
    b.stayAwake();
    a.look();
    expect(file.begun).toBe(1);
    put(a, "anew");
    expect(file.begun).toBe(2);
    expect(file.length).toBeLessThan(100);
    expect(takenBy(b)).toEqual(["anew"]);
  });

  it("is not begun anew while one letter of it was not read", () => {
    const { a, b, file, count } = filled(1_000);
    // One is behind them: that their writer rests.
    a.rest();
    for (let at = 0; at < count; at++) {
      b.look();
      b.take();
    }
    for (const begun of [1, 2]) {
      b.rest();
      b.stayAwake();
      a.look();
      a.stayAwake();
      expect(file.begun).toBe(begun);
      b.look();
    }
  });

  it("is waited for: whoever has read all of it says so when it rests, though it did not look", () => {
    const { a, b, file } = filled(1_000);
    b.rest();
    takenBy(b);
    expect(b.rest()).toBe(true);
    expect(b.rest()).toBe(false);
    a.look();
    a.rest();
    expect(file.begun).toBe(2);
  });

  it("that was begun anew is read from its beginning, also when it has become longer than it was before that is seen", () => {
    const { a, b, file } = filled(3_000);
    takenBy(b);
    b.rest();
    b.stayAwake();
    a.look();
    const before = file.length;
    const count = fill(a, 2_900);
    expect(file.begun).toBe(2);
    expect(file.length).toBeGreaterThan(before + HEADER_BYTES);
    expect(takenBy(b)).toHaveLength(count);
  });

  it("is never longer than it may be, though both sides say at the same time, again and again, what they have read", () => {
    const { a, b, file } = pair();
    a.stayAwake();
    b.stayAwake();
    for (const side of [a, b]) {
      side.look();
      fill(side, 1_000);
    }
    for (let at = 0; at < 1_000; at++) {
      takenBy(a);
      a.rest();
      b.rest();
      takenBy(b);
    }
    expect(file.longest).toBeLessThanOrEqual(LETTER_FILE_BYTES);
  });
});

/** A socket that carries what it is told to, when it is told to. */
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

/** One end of a link as its owner uses it: host/lanes/vigil.ts and sandbox/lane.ts. */
class End {
  readonly socket = new PlayedSocket();
  readonly files = way();
  readonly sent: string[] = [];
  readonly heard: string[] = [];
  isAwake = false;
  #link!: ReturnType<typeof socketLink>;

  connect(other: End, looking: "once" | "always", turn: () => void, heard: (frames: readonly string[]) => void): void {
    this.socket.other = other.socket;
    const box = new LetterBox(memoryFiles(this.files, other.files, turn));
    this.#link = socketLink(this.socket as unknown as Socket, { letters: { box, looking } });
    this.#link.onFrames((frames) => {
      this.heard.push(...frames);
      heard(frames);
    });
  }

  send(size: number, isAwaited: boolean): void {
    const frame = `${this.sent.length}`.padEnd(size, "€");
    this.sent.push(frame);
    this.#link.send([frame], isAwaited);
  }

  poll(): void {
    if (this.isAwake) this.#link.poll!();
  }

  stayAwake(): void {
    if (!this.isAwake) this.#link.stayAwake!();
    this.isAwake = true;
  }

  rest(): void {
    if (!this.isAwake) return;
    this.isAwake = false;
    this.#link.rest!();
  }

  nudge(): void {
    this.#link.nudge!();
  }
}

type Who = "host" | "lane";
type Step =
  | { readonly who: Who; readonly does: "send"; readonly size: number; readonly times: number }
  | { readonly who: "host"; readonly does: "call"; readonly size: number; readonly times: number }
  | { readonly who: Who; readonly does: "hear"; readonly bytes: number }
  | { readonly who: Who; readonly does: "poll" | "rest" }
  | { readonly who: "host"; readonly does: "nudge" }
  | { readonly who: "lane"; readonly does: "crowd" };

/** Steps in random order; the weights say what kind of day it is. */
function steps(maxLength: number, { sizes, bursts, rests }: { sizes: readonly number[]; bursts: number; rests: number }) {
  const who = fc.constantFrom<Who>("host", "lane");
  const size = fc.constantFrom(...sizes);
  // So many that a file becomes long.
  const times = fc.oneof({ weight: 10, arbitrary: fc.constant(1) }, { weight: bursts, arbitrary: fc.constant(30) });
  const bytes = fc.constantFrom(1, 5, 30, Infinity, Infinity);
  const others = fc.constantFrom({ who: "host", does: "nudge" }, { who: "lane", does: "crowd" });
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ who: fc.constant("host"), does: fc.constant("call"), size, times }) },
    { weight: 1, arbitrary: fc.record({ who, does: fc.constant("send"), size, times }) },
    { weight: 4, arbitrary: fc.record({ who, does: fc.constant("hear"), bytes }) },
    { weight: 8, arbitrary: fc.record({ who, does: fc.constant("poll") }) },
    { weight: rests, arbitrary: fc.record({ who, does: fc.constant("rest") }) },
    { weight: rests, arbitrary: others },
  ) as fc.Arbitrary<Step>;
  return fc.array(step, { maxLength, size: "max" });
}

/** So many characters are a letter, whatever they are. */
const LONGEST = Math.floor((LETTER_BYTES - 4) / 3);
const RESTLESS = { sizes: [0, 1, 20, 1_000, LONGEST, LONGEST + 1], bursts: 0, rests: 2 };
const BUSY = { sizes: [500, 1_000, 1_300, LONGEST], bursts: 3, rests: 1 };

/** Host and lane, whose steps are told; between any two touches of a file by one of them, the other may do a step of its own. */
class Conversation {
  readonly host = new End();
  readonly lane = new End();
  #isCrowded = false;
  /** What the other one does while one of them is in the middle of a step. */
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
    this.host.connect(this.lane, "once", turn, () => {});
    this.lane.connect(this.host, "always", turn, (frames) => {
      for (const frame of frames) this.lane.send(frame.length, this.lane.isAwake);
      if (!this.#isCrowded) this.lane.stayAwake();
    });
  }

  do(next: Step): void {
    this.#acting = next.who;
    this.#do(next);
    this.#acting = undefined;
  }

  /** Both rest, and all that is on its way arrives. */
  end(): void {
    for (let at = 0; [this.host, this.lane].some(({ isAwake, socket }) => isAwake || !socket.isIdle); at++) {
      if (at > 1_000) throw new Error("there is no end to it");
      for (const one of ["lane", "host"] as const) {
        this.do({ who: one, does: "rest" });
        this.do({ who: one, does: "hear", bytes: Infinity });
      }
    }
  }

  #do(next: Step): void {
    const end = this[next.who];
    switch (next.does) {
      case "send":
      case "call":
        if (next.does === "call") end.isAwake = true;
        for (let at = 0; at < next.times; at++) end.send(next.size, next.does === "call" || (next.who === "lane" && end.isAwake));
        return;
      case "hear":
        return end.socket.deliver(next.bytes);
      case "crowd":
        this.#isCrowded = !this.#isCrowded;
        return;
      default:
        return end[next.does]();
    }
  }
}

/** So that it does not decide: whoever was seen to look is written to. */
function stopClock(): void {
  vi.spyOn(performance, "now").mockReturnValue(0);
  onTestFinished(() => void vi.restoreAllMocks());
}

describe("a conversation", () => {
  it("whoever rested over a letter is woken, also when that is seen only behind a letter that had to wait for the socket", () => {
    stopClock();
    const conversation = new Conversation([]);
    const call: Step = { who: "host", does: "call", size: 0, times: 1 };
    const told: Step[] = [
      call,
      // It answers over the socket, and stays awake.
      { who: "lane", does: "hear", bytes: Infinity },
      { who: "host", does: "poll" },
      call,
      { who: "lane", does: "poll" },
      { who: "lane", does: "rest" },
      call,
      { who: "host", does: "rest" },
    ];
    for (const one of told) conversation.do(one);
    expect(conversation.lane.heard).toEqual(["0", "1"]);
    expect(conversation.host.heard).toEqual([]);
    conversation.end();
    expect(conversation.lane.heard).toEqual(["0", "1", "2"]);
    expect(conversation.host.heard).toEqual(["0", "1", "2"]);
  });

  it.each([
    ["of sides that rest again and again", RESTLESS, 2_000],
    ["of sides that have much to say", BUSY, 600],
  ])("%s: every frame is heard once and in order, whichever way it went, and none is left when both have rested", (_, day, numRuns) => {
    stopClock();
    fc.assert(
      fc.property(steps(100, day), steps(100, day), (told, meanwhile) => {
        const conversation = new Conversation(meanwhile);
        for (const one of told) conversation.do(one);
        conversation.end();
        const { host, lane } = conversation;
        expect([host.socket.broken, lane.socket.broken]).toEqual([undefined, undefined]);
        expect(lane.heard).toEqual(host.sent);
        expect(host.heard).toEqual(lane.sent);
        expect(longestOf(host.files, lane.files)).toBeLessThanOrEqual(LETTER_FILE_BYTES);
      }),
      { numRuns, interruptAfterTimeLimit: 10_000 },
    );
  });
});

/** More than any file that keeps to the rules could make necessary. */
const MOST_READS = 10_000;

interface Nonsense {
  readonly number: number;
  readonly after: number;
  readonly read: number;
  readonly length: number;
  readonly looks: number;
  readonly body: Uint8Array;
}

/** A file that somebody writes who keeps to no rules. */
class HostileFile extends MemoryFile {
  /** The number of the record that comes next, if anybody reads them all, in whichever file. */
  readonly #count: { next: number };

  constructor(count: { next: number }) {
    super();
    this.#count = count;
  }

  append(more: Partial<Nonsense> = {}, at = this.length): void {
    const { number, after, read, length, looks, body } = {
      number: this.#count.next,
      after: 0,
      read: 0,
      length: 0,
      looks: 0,
      body: Buffer.alloc(0),
      ...more,
    };
    const header = Buffer.from(new Float64Array([number, after, read, length, looks]).buffer);
    const padding = Buffer.alloc(-body.length & 7);
    this.write(Buffer.concat([header, body, padding]), at);
    if (number === this.#count.next) this.#count.next += 1;
  }

  /** Of whole records, so that what is read next is where a file is long. */
  lengthen(): void {
    while (this.length < LONG_BYTES) this.append({ length: 1_000, body: Buffer.alloc(1_000) });
  }
}

/** One side, and a file in which anything may be; it may read so often in a while, and no more. */
class Victim {
  readonly own = way();
  readonly #count = { next: 1 };
  readonly others: Way<HostileFile> = [new HostileFile(this.#count), new HostileFile(this.#count)];
  readonly other = this.others[0];
  readonly box: LetterBox;
  #reads = 0;

  /** `isRead`: just before the hostile file is, at that place. */
  constructor(isRead: (at: number) => unknown = () => {}) {
    const files = memoryFiles(this.own, this.others);
    this.box = new LetterBox({
      ...files,
      read: (which, into, length, at) => {
        this.#reads += 1;
        if (this.#reads > MOST_READS) throw new Error("there is no end to it");
        isRead(at);
        return files.read(which, into, length, at);
      },
    });
  }

  /** Gives what was thrown. */
  does(act: () => unknown): unknown {
    this.#reads = 0;
    return thrownBy(act);
  }
}

const number = fc.oneof(fc.nat(5), fc.double(), fc.constantFrom(NaN, Infinity, -Infinity, -1, 0.5, 2 ** 53, LETTER_FILE_BYTES));
const nonsense = fc.record(
  {
    number,
    after: number,
    read: number,
    length: fc.oneof(
      fc.nat(100),
      fc.nat(LETTER_BYTES + 1),
      fc.nat(LETTER_BYTES + 1).map((length) => -length),
      fc.double(),
      fc.constantFrom(0, LETTER_BYTES, LETTER_BYTES + 1, 2 ** 32, -1, -LETTER_BYTES, 0.5, -0, NaN, Infinity, -Infinity),
    ),
    looks: fc.oneof(fc.nat(4), fc.nat()),
    body: fc.uint8Array({ maxLength: 200 }),
  },
  { requiredKeys: [] },
);
const place = fc.oneof(fc.constant(0), fc.nat(LETTER_FILE_BYTES));
const attack: fc.Arbitrary<(file: HostileFile) => void> = fc.oneof(
  { weight: 4, arbitrary: nonsense.map((record) => (file: HostileFile) => file.append(record)) },
  fc.tuple(nonsense, place).map(
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
const move: fc.Arbitrary<(box: LetterBox) => void> = fc.constantFrom(
  (box) => box.take(),
  (box) => box.stayAwake(),
  (box) => void box.rest(),
  (box) => box.isWatched && box.put(1_000, 0, LOOKING.once),
  (box) => box.isWatched && box.put(LETTER_BYTES, 0, LOOKING.always),
);

function letterOf(frames: readonly string[]): Buffer {
  const paper = Buffer.alloc(LETTER_BYTES);
  return paper.subarray(0, writeLetter(paper, frames));
}

describe("whatever the other side writes", () => {
  it("is a letter that is no longer than it may be, or nothing, or a RangeError; and the own file is never longer than it may be", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(attack, move, fc.constantFrom(0, 0, 1)), { maxLength: 60, size: "max" }), (turns) => {
        const victim = new Victim();
        for (const [attacks, moves, which] of turns) {
          attacks(victim.others[which]);
          const error = victim.does(() => {
            const { bytes, after } = victim.box.look() ?? { bytes: [], after: 0 };
            expect(bytes.length).toBeLessThanOrEqual(LETTER_BYTES);
            expect(after).not.toBeNaN();
            moves(victim.box);
          });
          expect(longestOf(victim.own)).toBeLessThanOrEqual(LETTER_FILE_BYTES);
          // Then the link ends.
          if (error instanceof RangeError) return;
          expect(error).toBeUndefined();
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it("is refused when its file becomes longer than any that keeps to the rules, so that nobody reads for ever", () => {
    const victim: Victim = new Victim((at) => at >= victim.other.length && victim.other.append());
    expect(victim.does(() => victim.box.look())).toBeInstanceOf(RangeError);
  });

  it("makes nobody who rests read for ever, though new letters come as fast as they are read", () => {
    stopClock();
    const victim: Victim = new Victim((at) => {
      if (at >= LONG_BYTES || (at === 0 && victim.other.length >= LONG_BYTES)) victim.other.shrink(0);
      if (at >= victim.other.length) victim.other.append({ looks: LOOKING.always, length: 3, body: Buffer.from("0,\n") });
    });
    const socket = new PlayedSocket();
    socket.other = new PlayedSocket();
    const link = socketLink(socket as unknown as Socket, { letters: { box: victim.box, looking: "once" } });
    victim.does(() => {
      link.poll!();
      link.send(["a"], true);
      link.rest!();
    });
    expect(longestOf(victim.own)).toBeGreaterThan(0);
    expect(socket.broken === undefined || socket.broken instanceof RangeError).toBe(true);
  });

  it("does not make the own file longer than it may be, by never reading it and saying ever so much", () => {
    const victim = new Victim();
    victim.other.lengthen();
    for (let at = 0; at < 1_000; at++) {
      victim.other.append({ looks: LOOKING.always });
      victim.does(() => {
        while (victim.box.look()) victim.box.take();
        if (victim.box.isWatched) victim.box.put(LETTER_BYTES, 0, LOOKING.once);
        victim.box.rest();
      });
    }
    expect(longestOf(victim.own)).toBeGreaterThan(LONG_BYTES);
    expect(longestOf(victim.own)).toBeLessThanOrEqual(LETTER_FILE_BYTES);
  });

  it("is heard as frames, or ends the link, and nothing is thrown at whoever listens", () => {
    stopClock();
    const frames = fc.array(fc.string({ maxLength: 20 }), { maxLength: 3 }).map((texts) => letterOf(texts));
    const letter = fc
      .oneof(frames, fc.uint8Array({ minLength: 1, maxLength: 50 }))
      .chain((body) =>
        fc.record({ after: number, looks: fc.nat(3), read: number, length: fc.constant(body.length), body: fc.constant(body) }),
      );
    const chunk = fc.oneof(frames, fc.uint8Array({ minLength: 1, maxLength: 9 }));
    const act = fc.constantFrom("poll", "rest", "nudge", "stayAwake");
    fc.assert(
      fc.property(fc.array(fc.tuple(letter, chunk, act), { maxLength: 30 }), (turns) => {
        const victim = new Victim();
        const [socket, other] = [new PlayedSocket(), new PlayedSocket()];
        [socket.other, other.other] = [other, socket];
        const link = socketLink(socket as unknown as Socket, { letters: { box: victim.box, looking: "once" } });
        const heard: string[] = [];
        link.onFrames((some) => heard.push(...some));
        for (const [record, bytes, does] of turns) {
          victim.other.append(record);
          other.write(Buffer.from(bytes));
          expect(
            victim.does(() => {
              link[does]!();
              link.send(["x"], true);
              socket.deliver(Infinity);
            }),
          ).toBeUndefined();
        }
        expect(socket.broken === undefined || socket.broken instanceof RangeError).toBe(true);
        expect(heard).not.toContain("");
      }),
      { numRuns: 500 },
    );
  });
});
