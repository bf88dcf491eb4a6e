/**
 * Letters between host and sandbox process: files that are nowhere but in the kernel's memory and that both processes have open, two for each way. One side
 * appends, the other reads where the file ended. It is the fastest way between two processes that Node has, about half of what a socket takes: whoever
 * stays awake can look again and again without an exception being thrown when there is nothing new, and past the end of a file without keeping
 * the writer waiting (the kernel locks a page that is read, so a place that is written again and again will not do). It wakes nobody, so it is only an
 * addition to the socket (socket-link.ts): for a few small frames, to somebody who is known to look.
 *
 * What costs most is memory that a file has to be given: two thirds of what it takes to append a large letter. So a large one is written over what was read already,
 * just ahead of the file's end, and only its header grows the file. What was written last may not have been read yet: that is why there are two files, of which
 * the other one's turn it is after each large letter.
 *
 * With its letters a side says whether it looks for the other's, and how many of those it has read. All that is read is checked: the sandbox can
 * write anything at any moment.
 */
import type { ftruncateSync, readSync, writeSync } from "node:fs";

/**
 * Of a record, ahead of the letter: its number, bytes sent on the socket before it, records of the other side that were read, length, whether the writer
 * looks. Numbers of eight bytes, as the machine has them: both sides are on it. A length below zero: the letter is not behind its header, but ahead of it.
 */
const NUMBER = 0;
const AFTER = 1;
const READ = 2;
const LENGTH = 3;
const LOOKS = 4;
const HEADER_FIELDS = 5;
const FIELD_BYTES = Float64Array.BYTES_PER_ELEMENT;
const HEADER_BYTES = HEADER_FIELDS * FIELD_BYTES;
/** With 64 runs in flight up to thirty are said at a time, which is half of this. */
export const LETTER_BYTES = 16 * 1024 - HEADER_BYTES;
/** Reading a letter that is ahead of its header takes a second look at the file, which is as much as the memory for this. */
export const LARGE_BYTES = 3 * 1024;
/** A file as long as this is begun anew when all of it was read; until then nothing is added but that its writer rests. */
const LONG_BYTES = 256 * 1024;
/** No file is ever longer. */
export const LETTER_FILE_BYTES = LONG_BYTES + 2 * (HEADER_BYTES + LETTER_BYTES);

/** Whether a side looks for letters: it does not; it does until one has come; it does until it says otherwise. */
export const LOOKING = { not: 0, once: 1, always: 2 } as const;
export type Looking = (typeof LOOKING)[keyof typeof LOOKING];

/** Which of the two files of a way. */
export type Which = 0 | 1;

export interface LetterFiles {
  /** One of the other side's: gives how many bytes there were. */
  read(which: Which, into: Uint8Array, length: number, at: number): number;
  /** One's own: these bytes, from `from` on. */
  write(which: Which, bytes: Uint8Array, from: number, length: number, at: number): void;
  clear(which: Which): void;
}

/** Descriptors of the two files of a way. */
export type FilePair = readonly [number, number];

/** What a lane is given: to read the host's, to write its own. */
export interface LaneFiles {
  readonly readers: FilePair;
  readonly writers: FilePair;
}

type FileSystem = {
  readonly readSync: typeof readSync;
  readonly writeSync: typeof writeSync;
  readonly ftruncateSync: typeof ftruncateSync;
};

/** By descriptors; with `node:fs`'s own functions, from whoever may import them. */
export function letterFiles(own: FilePair, theirs: FilePair, fs: FileSystem): LetterFiles {
  return {
    read: (which, into, length, at) => fs.readSync(theirs[which], into, 0, length, at),
    write: (which, bytes, from, length, at) => {
      if (fs.writeSync(own[which], bytes, from, length, at) < length) throw new RangeError("there is no room for a letter");
    },
    clear: (which) => fs.ftruncateSync(own[which], 0),
  };
}

export interface Letter {
  /** How many bytes went over the socket before it. */
  readonly after: number;
  /** Valid until the next look. */
  readonly bytes: Buffer;
}

/** What `once` has become when the one letter was put. */
const SATISFIED = 3;

export class LetterBox {
  readonly #files: LetterFiles;
  /** Room for a header on either side of the letter. */
  readonly #out = Buffer.from(new ArrayBuffer(HEADER_BYTES + LETTER_BYTES + HEADER_BYTES));
  readonly #outFields = new Float64Array(this.#out.buffer);
  readonly #in = Buffer.from(new ArrayBuffer(HEADER_BYTES + LETTER_BYTES));
  readonly #inFields = new Float64Array(this.#in.buffer);
  /** What a letter is written on. */
  readonly paper = this.#out.subarray(HEADER_BYTES, HEADER_BYTES + LETTER_BYTES);
  #looking: Looking = LOOKING.not;
  #theyLook: number = LOOKING.not;
  /** Which of the own files is written next, where each ends, and the last record in it. */
  #outTurn: Which = 0;
  readonly #ends: [number, number] = [0, 0];
  readonly #lasts: [number, number] = [0, 0];
  /** Which of the other side's files is read next, and how far each was read. */
  #inTurn: Which = 0;
  readonly #ats: [number, number] = [0, 0];
  /** What was last read of that one: from where on, and up to where. */
  #hasChunk = false;
  #chunkFrom = 0;
  #chunkEnd = 0;
  /** Records that were written, the last of them that was a letter, and how many of them the other side has read. */
  #written = 0;
  #lastLetter = 0;
  #writtenRead = 0;
  /** Records of the other side that were read, and how many of those it knows of. */
  #read = 0;
  #readTold = 0;
  #found: Letter | undefined;

  constructor(files: LetterFiles) {
    this.#files = files;
  }

  /** As far as was seen: is there somebody who looks? */
  get hasReader(): boolean {
    return this.#theyLook === LOOKING.once || this.#theyLook === LOOKING.always;
  }

  /** As far as was seen: is there somebody who looks, and room? */
  get isWatched(): boolean {
    return this.hasReader && this.#hasRoom();
  }

  /** As far as was seen: a letter lies there, and nobody looks any more. */
  get isForgotten(): boolean {
    return this.#theyLook === LOOKING.not && this.isUnread;
  }

  /** As far as was seen: a letter lies there. */
  get isUnread(): boolean {
    return this.#writtenRead < this.#lastLetter;
  }

  /** Was there more behind the letter that was read last? Or nobody knows. */
  get mayHaveMore(): boolean {
    return !this.#hasChunk || this.#chunkEnd > this.#ats[this.#inTurn];
  }

  /** So many bytes of the paper; `looking` is what this side does from now on. */
  put(length: number, after: number, looking: Looking): void {
    this.#append(length, after, looking);
    this.#lastLetter = this.#written;
    if (this.#theyLook === LOOKING.once) this.#theyLook = SATISFIED;
  }

  /** From now on this side looks, if the other one keeps up with being told so. */
  stayAwake(): void {
    if (this.#looking !== LOOKING.always && this.#hasRoom()) this.#append(0, 0, LOOKING.always);
  }

  /** The other side may be waiting to hear that all was read, so that it can begin its file anew. */
  acknowledge(): boolean {
    const isLong = this.#ats[this.#inTurn] >= LONG_BYTES;
    const isWaitedFor = isLong && this.#readTold < this.#read && this.#ends[this.#outTurn] + HEADER_BYTES <= LETTER_FILE_BYTES;
    if (isWaitedFor) this.#append(0, 0, this.#looking);
    return isWaitedFor;
  }

  /** This side does not look any more. True: it has to look once more, the other side may just have believed that it would. */
  rest(): boolean {
    if (this.#looking === LOOKING.not) return this.acknowledge();
    this.#append(0, 0, LOOKING.not);
    return true;
  }

  /** The next letter, if there is one; it stays until it is taken. */
  look(): Letter | undefined {
    while (!this.#found && this.#readRecord());
    return this.#found;
  }

  /** The letter that was found is taken out. The other side learns it from whatever is written next. */
  take(): void {
    this.#found = undefined;
    // One was wanted for each letter: this one was the last if it was written when all of those had been read.
    if (this.#looking === LOOKING.once && this.#writtenRead >= this.#lastLetter) this.#looking = LOOKING.not;
  }

  #hasRoom(): boolean {
    return this.#ends[this.#outTurn] < LONG_BYTES || this.#writtenRead === this.#written;
  }

  #append(length: number, after: number, looking: Looking): void {
    const turn = this.#outTurn;
    if (this.#ends[turn] >= LONG_BYTES && this.#writtenRead === this.#written) {
      this.#files.clear(turn);
      this.#ends[turn] = 0;
    }
    const end = this.#ends[turn];
    const bodyBytes = fieldBytes(length);
    const isAhead = length >= LARGE_BYTES && end >= bodyBytes && this.#lasts[turn] <= this.#writtenRead;
    this.#looking = looking;
    this.#readTold = this.#read;
    this.#written += 1;
    this.#lasts[turn] = this.#written;
    const head = isAhead ? HEADER_FIELDS + bodyBytes / FIELD_BYTES : 0;
    const fields = this.#outFields;
    fields[head + NUMBER] = this.#written;
    fields[head + AFTER] = after;
    fields[head + READ] = this.#read;
    fields[head + LENGTH] = isAhead ? -length : length;
    fields[head + LOOKS] = looking;
    if (isAhead) {
      this.#files.write(turn, this.#out, HEADER_BYTES, bodyBytes + HEADER_BYTES, end - bodyBytes);
      this.#ends[turn] = end + HEADER_BYTES;
      this.#outTurn = otherOf(turn);
    } else {
      this.#files.write(turn, this.#out, 0, HEADER_BYTES + bodyBytes, end);
      this.#ends[turn] = end + HEADER_BYTES + bodyBytes;
    }
  }

  /** False: there is none that is whole. A file grows by what was written into it, page by page. */
  #readRecord(): boolean {
    const turn = this.#inTurn;
    const at = this.#findRecord(turn);
    if (at === undefined) return false;
    // SECURITY: whatever the sandbox writes there is read as numbers, in bounds; what cannot be is nonsense. test/protocol/letter-box.test.ts
    const head = (at - this.#chunkFrom) / FIELD_BYTES;
    const fields = this.#inFields;
    const isAhead = fields[head + LENGTH]! < 0;
    const length = Math.abs(fields[head + LENGTH]!);
    const bodyBytes = fieldBytes(length);
    const end = at + HEADER_BYTES + (isAhead ? 0 : bodyBytes);
    if (!Number.isInteger(length) || length > LETTER_BYTES || end > LETTER_FILE_BYTES || (isAhead && bodyBytes > at))
      throw new RangeError(`a letter of ${length} bytes at ${at}`);
    if (end > this.#chunkEnd) return false;
    const after = fields[head + AFTER]! || 0;
    this.#ats[turn] = end;
    this.#read += 1;
    this.#theyLook = fields[head + LOOKS]!;
    this.#writtenRead = fields[head + READ]!;
    if (isAhead) {
      this.#found = { after, bytes: this.#readAhead(turn, length, at - bodyBytes) };
      this.#inTurn = otherOf(turn);
    } else if (length > 0) {
      const from = at - this.#chunkFrom + HEADER_BYTES;
      this.#found = { after, bytes: this.#in.subarray(from, from + length) };
    }
    return true;
  }

  #readAhead(turn: Which, length: number, at: number): Buffer {
    // What else was in it is of no use: it is the other file's turn.
    this.#hasChunk = false;
    if (this.#files.read(turn, this.#in, length, at) < length) throw new RangeError(`there is no letter of ${length} bytes at ${at}`);
    return this.#in.subarray(0, length);
  }

  /** Where the next record is, of which the header at least was read. */
  #findRecord(turn: Which): number | undefined {
    const at = this.#ats[turn];
    if (this.#holdsRecord(at)) return at;
    // A long file may have been begun anew, once its writer was told that all of it was read; by now it may be longer than it was.
    if (at >= LONG_BYTES && this.#readTold === this.#read && this.#glance(turn, 0)) return 0;
    return this.#glance(turn, at) ? at : undefined;
  }

  /** Was all of it read already, with what was ahead of it? */
  #holdsRecord(at: number): boolean {
    if (!this.#hasChunk) return false;
    const head = (at - this.#chunkFrom) / FIELD_BYTES;
    const left = this.#chunkEnd - at - HEADER_BYTES;
    return left >= 0 && this.#inFields[head + NUMBER] === this.#read + 1 && left >= fieldBytes(this.#inFields[head + LENGTH]!);
  }

  /** Does the next record begin there? A file that was not begun anew yet still has its old ones. */
  #glance(turn: Which, at: number): boolean {
    const size = this.#files.read(turn, this.#in, this.#in.length, at);
    const isRecord = size >= HEADER_BYTES && this.#inFields[NUMBER] === this.#read + 1;
    this.#hasChunk = true;
    this.#chunkFrom = at;
    this.#chunkEnd = isRecord ? at + size : at;
    return isRecord;
  }
}

function otherOf(which: Which): Which {
  return which === 0 ? 1 : 0;
}

/** Records begin where a number may: there is room behind a letter that is not of whole ones. */
function fieldBytes(length: number): number {
  return Math.ceil(length / FIELD_BYTES) * FIELD_BYTES;
}
