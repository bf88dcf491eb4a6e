/**
 * Letters between host and sandbox process: two files, one for each way, that are nowhere but in the kernel's memory and that both processes have open. One side
 * appends, the other reads where the file ended. It is the fastest way between two processes that Node has, about half of what a socket takes: whoever
 * stays awake can look again and again without an exception being thrown when there is nothing new, and past the end of a file without keeping
 * the writer waiting (the kernel locks a page that is read, so a place that is written again and again will not do). It wakes nobody, so it is only an
 * addition to the socket (socket-link.ts): for a few small frames, to somebody who is known to look.
 *
 * With its letters a side says whether it looks for the other's, and how many of those it has read. All that is read is checked: the sandbox can
 * write anything at any moment.
 */
import type { ftruncateSync, readSync, writeSync } from "node:fs";

/**
 * Of a record, ahead of the letter: its number, bytes sent on the socket before it, records of the other side that were read, length, whether the writer
 * looks. Numbers of eight bytes, as the machine has them: both sides are on it.
 */
const NUMBER = 0;
const AFTER = 1;
const READ = 2;
const LENGTH = 3;
const LOOKS = 4;
const HEADER_FIELDS = 5;
const HEADER_BYTES = HEADER_FIELDS * Float64Array.BYTES_PER_ELEMENT;
/** With 64 runs in flight up to thirty are said at a time, which is half of this. */
export const LETTER_BYTES = 16 * 1024 - HEADER_BYTES;
/** A file as long as this is begun anew when all of it was read; until then nothing is added but that its writer rests. */
const LONG_BYTES = 256 * 1024;
/** No file is ever longer. */
export const LETTER_FILE_BYTES = LONG_BYTES + 2 * (HEADER_BYTES + LETTER_BYTES);

/** Whether a side looks for letters: it does not; it does until one has come; it does until it says otherwise. */
export const LOOKING = { not: 0, once: 1, always: 2 } as const;
export type Looking = (typeof LOOKING)[keyof typeof LOOKING];

export interface LetterFiles {
  /** The other side's: gives how many bytes there were. */
  read(into: Uint8Array, length: number, at: number): number;
  /** One's own. */
  write(bytes: Uint8Array, length: number, at: number): void;
  clear(): void;
}

type FileSystem = {
  readonly readSync: typeof readSync;
  readonly writeSync: typeof writeSync;
  readonly ftruncateSync: typeof ftruncateSync;
};

/** By descriptors; with `node:fs`'s own functions, from whoever may import them. */
export function letterFiles(own: number, other: number, fs: FileSystem): LetterFiles {
  return {
    read: (into, length, at) => fs.readSync(other, into, 0, length, at),
    write: (bytes, length, at) => {
      if (fs.writeSync(own, bytes, 0, length, at) < length) throw new RangeError("there is no room for a letter");
    },
    clear: () => fs.ftruncateSync(own, 0),
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
  readonly #out = Buffer.from(new ArrayBuffer(HEADER_BYTES + LETTER_BYTES));
  readonly #outHead = new Float64Array(this.#out.buffer, 0, HEADER_FIELDS);
  readonly #in = Buffer.from(new ArrayBuffer(HEADER_BYTES + LETTER_BYTES));
  readonly #inHead = new Float64Array(this.#in.buffer, 0, HEADER_FIELDS);
  /** What a letter is written on. */
  readonly paper = this.#out.subarray(HEADER_BYTES);
  #looking: Looking = LOOKING.not;
  #theyLook: number = LOOKING.not;
  /** Where the own file ends, and how far the other one was read. */
  #end = 0;
  #at = 0;
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
    const isWaitedFor = this.#at >= LONG_BYTES && this.#readTold < this.#read && this.#end + HEADER_BYTES <= LETTER_FILE_BYTES;
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
    return this.#end < LONG_BYTES || this.#writtenRead === this.#written;
  }

  #append(length: number, after: number, looking: Looking): void {
    if (this.#end >= LONG_BYTES && this.#writtenRead === this.#written) {
      this.#files.clear();
      this.#end = 0;
    }
    this.#looking = looking;
    this.#readTold = this.#read;
    this.#written += 1;
    const head = this.#outHead;
    head[NUMBER] = this.#written;
    head[AFTER] = after;
    head[READ] = this.#read;
    head[LENGTH] = length;
    head[LOOKS] = looking;
    this.#files.write(this.#out, HEADER_BYTES + length, this.#end);
    this.#end += HEADER_BYTES + length;
  }

  /** False: there is none that is whole. A file grows by what was written into it, page by page. */
  #readRecord(): boolean {
    // A long file may have been begun anew, once its writer was told that all of it was read; by now it may be longer than it was.
    let at = this.#at >= LONG_BYTES && this.#readTold === this.#read ? 0 : this.#at;
    let size = this.#glance(at);
    if (size === 0 && at !== this.#at) size = this.#glance((at = this.#at));
    if (size === 0) return false;
    // SECURITY: whatever the sandbox writes there is read as numbers, in bounds; what cannot be is nonsense. test/protocol/letter-box.test.ts
    const head = this.#inHead;
    const length = head[LENGTH]!;
    const end = HEADER_BYTES + length;
    if (!Number.isInteger(length) || length < 0 || length > LETTER_BYTES || at + end > LETTER_FILE_BYTES)
      throw new RangeError(`a letter of ${length} bytes at ${at}`);
    if (end > size) return false;
    this.#at = at + end;
    this.#read += 1;
    this.#theyLook = head[LOOKS]!;
    this.#writtenRead = head[READ]!;
    if (length > 0) this.#found = { after: head[AFTER]! || 0, bytes: this.#in.subarray(HEADER_BYTES, end) };
    return true;
  }

  /** How much there is of the next record, if it begins there: a file that was not begun anew yet still has its old ones. */
  #glance(at: number): number {
    const size = this.#files.read(this.#in, this.#in.length, at);
    return size >= HEADER_BYTES && this.#inHead[NUMBER] === this.#read + 1 ? size : 0;
  }
}
