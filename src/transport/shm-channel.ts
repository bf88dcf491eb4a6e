/**
 * Both sides: a channel between host and sandbox process over files that exist only in the kernel's memory (/dev/shm).
 * Both processes have them open, two for each direction. One side appends, the other reads where the file ended. It is
 * the fastest way between two processes that Node has, about half of what a socket takes: a side that polls can look
 * again and again without an exception when there is nothing new, and a read past the end of a file does not hold up
 * the writer. (The kernel locks a page while it is read, so rewriting one place in a loop would not do.) The channel
 * wakes no peer, so it is only an addition to the socket (socket-link.ts): for a few small frames, to a peer that is
 * known to poll.
 *
 * What costs most is memory that the kernel has to add to a file: two thirds of the time it takes to append a large
 * message. So a large message is written over what was read already, just ahead of the file's end, and only its header
 * grows the file. The peer may not have read what was written last. That is why each direction has two files: after
 * each large message the writer goes on in the other file.
 *
 * Each record says whether its writer polls, and how many of the peer's records it has read. The reader checks
 * everything: the sandbox can write anything at any moment.
 */
import type { ftruncateSync, readSync, writeSync } from "node:fs";

/**
 * The header of a record: its number, bytes sent on the socket before it, records of the peer that were read, length of
 * the body, poll mode of the writer. Float64 in the machine's byte order, since both sides are on the same machine. A
 * negative length: the body is not behind its header, but ahead of it.
 */
const NUMBER = 0;
const SOCKET_OFFSET = 1;
const READ = 2;
const LENGTH = 3;
const POLLS = 4;
const HEADER_FIELDS = 5;
const FIELD_BYTES = Float64Array.BYTES_PER_ELEMENT;
const HEADER_BYTES = HEADER_FIELDS * FIELD_BYTES;
/** The longest body. With 64 calls in flight up to thirty are sent at a time, which is half of this. */
export const BODY_BYTES = 16 * 1024 - HEADER_BYTES;
/**
 * From here on a body is written ahead of its header. That takes a second read, which costs as much as the kernel's
 * memory for so many bytes.
 */
export const LARGE_BYTES = 3 * 1024;
/**
 * A file as long as this is truncated when the peer has read all of it. Until then the writer adds nothing but that it
 * has stopped polling.
 */
const LONG_BYTES = 256 * 1024;
/** No file is ever longer. */
export const SHM_FILE_BYTES = LONG_BYTES + 2 * (HEADER_BYTES + BODY_BYTES);

/** Does a side poll the channel: no; until one message has come; until it says otherwise. */
export const POLL_MODE = { off: 0, oneShot: 1, continuous: 2 } as const;
export type PollMode = (typeof POLL_MODE)[keyof typeof POLL_MODE];

/** Which of the two files of a direction. */
export type FileIndex = 0 | 1;

export interface ShmFiles {
  /** Reads a file of the peer. Gives how many bytes there were. */
  read(which: FileIndex, into: Uint8Array, length: number, at: number): number;
  /** Writes a file of this side: these bytes, from `from` on. */
  write(which: FileIndex, bytes: Uint8Array, from: number, length: number, at: number): void;
  clear(which: FileIndex): void;
}

/** Descriptors of the two files of a direction. */
export type FilePair = readonly [number, number];

/** Descriptors that a lane inherits: to read the host's files, and to write its own. */
export interface LaneShmFds {
  readonly readers: FilePair;
  readonly writers: FilePair;
}

type FileSystem = {
  readonly readSync: typeof readSync;
  readonly writeSync: typeof writeSync;
  readonly ftruncateSync: typeof ftruncateSync;
};

/** Files by their descriptors. The caller passes the functions of `node:fs`, which a lane must not import. */
export function shmFiles(own: FilePair, theirs: FilePair, fs: FileSystem): ShmFiles {
  return {
    read: (which, into, length, at) => fs.readSync(theirs[which], into, 0, length, at),
    write: (which, bytes, from, length, at) => {
      if (fs.writeSync(own[which], bytes, from, length, at) < length) throw new RangeError("no room for a record");
    },
    clear: (which) => fs.ftruncateSync(own[which], 0),
  };
}

export interface ShmMessage {
  /** How many bytes went over the socket before it. */
  readonly socketOffset: number;
  /** Valid until the next `peek`. */
  readonly bytes: Buffer;
}

/** What the peer's `oneShot` becomes here when its one message was sent. */
const SATISFIED = 3;

export class ShmChannel {
  readonly #files: ShmFiles;
  /** Room for a header on either side of the body. */
  readonly #out = Buffer.from(new ArrayBuffer(HEADER_BYTES + BODY_BYTES + HEADER_BYTES));
  readonly #outFields = new Float64Array(this.#out.buffer);
  readonly #in = Buffer.from(new ArrayBuffer(HEADER_BYTES + BODY_BYTES));
  readonly #inFields = new Float64Array(this.#in.buffer);
  /** The caller writes a body here before `send`. */
  readonly sendBuffer = this.#out.subarray(HEADER_BYTES, HEADER_BYTES + BODY_BYTES);
  #pollMode: PollMode = POLL_MODE.off;
  #peerPollMode: number = POLL_MODE.off;
  /** Which of its own files this side writes next, where each ends, and the last record in it. */
  #outFile: FileIndex = 0;
  readonly #ends: [number, number] = [0, 0];
  readonly #lasts: [number, number] = [0, 0];
  /** Which of the peer's files this side reads next, and how far it has read each. */
  #inFile: FileIndex = 0;
  readonly #ats: [number, number] = [0, 0];
  /** The bytes of that file that are in `#in`: from where on, and up to where. */
  #hasChunk = false;
  #chunkFrom = 0;
  #chunkEnd = 0;
  /** Records that this side wrote, the last of them that was a message, and how many of them the peer has read. */
  #written = 0;
  #lastMessage = 0;
  #writtenRead = 0;
  /** Records of the peer that this side has read, and how many of those the peer knows of. */
  #read = 0;
  #readTold = 0;
  #found: ShmMessage | undefined;

  constructor(files: ShmFiles) {
    this.#files = files;
  }

  /** The getters say what the records that were read so far have said. Does the peer poll? */
  get isPeerPolling(): boolean {
    return this.#peerPollMode === POLL_MODE.oneShot || this.#peerPollMode === POLL_MODE.continuous;
  }

  /** Does the peer poll, and is there room? */
  get canSend(): boolean {
    return this.isPeerPolling && this.#hasRoom();
  }

  /** The peer has not read all messages, and has stopped polling. */
  get isStranded(): boolean {
    return this.#peerPollMode === POLL_MODE.off && this.isUnread;
  }

  /** The peer has not read all messages. */
  get isUnread(): boolean {
    return this.#writtenRead < this.#lastMessage;
  }

  /** False: there was certainly nothing behind the message that was read last. */
  get mayHaveMore(): boolean {
    return !this.#hasChunk || this.#chunkEnd > this.#ats[this.#inFile];
  }

  /** Sends so many bytes of `sendBuffer`. `pollMode`: what this side does from now on. */
  send(length: number, socketOffset: number, pollMode: PollMode): void {
    this.#append(length, socketOffset, pollMode);
    this.#lastMessage = this.#written;
    if (this.#peerPollMode === POLL_MODE.oneShot) this.#peerPollMode = SATISFIED;
  }

  /** Tells the peer that this side polls from now on, if there is room to say so. */
  startPolling(): void {
    if (this.#pollMode !== POLL_MODE.continuous && this.#hasRoom()) this.#append(0, 0, POLL_MODE.continuous);
  }

  /**
   * Tells a peer whose file is long that all of it was read, so that the peer can truncate it. True: it had to be told.
   */
  acknowledge(): boolean {
    const isLong = this.#ats[this.#inFile] >= LONG_BYTES;
    const isDue = isLong && this.#readTold < this.#read && this.#ends[this.#outFile] + HEADER_BYTES <= SHM_FILE_BYTES;
    if (isDue) this.#append(0, 0, this.#pollMode);
    return isDue;
  }

  /**
   * Tells the peer that this side polls no longer. True: this side has to poll once more, since the peer may just have
   * sent something.
   */
  stopPolling(): boolean {
    if (this.#pollMode === POLL_MODE.off) return this.acknowledge();
    this.#append(0, 0, POLL_MODE.off);
    return true;
  }

  /** The next message, if there is one. It stays until `take`. */
  peek(): ShmMessage | undefined {
    while (!this.#found && this.#readRecord());
    return this.#found;
  }

  /** Removes the message that `peek` gave. The peer learns it from the next record. */
  take(): void {
    this.#found = undefined;
    // One reply was expected for each message: this one was the last if the peer wrote it after it had read all of
    // those.
    if (this.#pollMode === POLL_MODE.oneShot && this.#writtenRead >= this.#lastMessage) this.#pollMode = POLL_MODE.off;
  }

  #hasRoom(): boolean {
    return this.#ends[this.#outFile] < LONG_BYTES || this.#writtenRead === this.#written;
  }

  #append(length: number, socketOffset: number, pollMode: PollMode): void {
    const file = this.#outFile;
    if (this.#ends[file] >= LONG_BYTES && this.#writtenRead === this.#written) {
      this.#files.clear(file);
      this.#ends[file] = 0;
    }
    const end = this.#ends[file];
    const bodyBytes = fieldBytes(length);
    const isAhead = length >= LARGE_BYTES && end >= bodyBytes && this.#lasts[file] <= this.#writtenRead;
    this.#pollMode = pollMode;
    this.#readTold = this.#read;
    this.#written += 1;
    this.#lasts[file] = this.#written;
    const head = isAhead ? HEADER_FIELDS + bodyBytes / FIELD_BYTES : 0;
    const fields = this.#outFields;
    fields[head + NUMBER] = this.#written;
    fields[head + SOCKET_OFFSET] = socketOffset;
    fields[head + READ] = this.#read;
    fields[head + LENGTH] = isAhead ? -length : length;
    fields[head + POLLS] = pollMode;
    if (isAhead) {
      this.#files.write(file, this.#out, HEADER_BYTES, bodyBytes + HEADER_BYTES, end - bodyBytes);
      this.#ends[file] = end + HEADER_BYTES;
      this.#outFile = otherOf(file);
    } else {
      this.#files.write(file, this.#out, 0, HEADER_BYTES + bodyBytes, end);
      this.#ends[file] = end + HEADER_BYTES + bodyBytes;
    }
  }

  /** False: there is no whole record. A file grows page by page while the peer writes a record. */
  #readRecord(): boolean {
    const file = this.#inFile;
    const at = this.#findRecord(file);
    if (at === undefined) return false;
    // SECURITY: whatever the sandbox writes is read as numbers within bounds, or throws.
    // test/transport/shm-channel.test.ts
    const head = (at - this.#chunkFrom) / FIELD_BYTES;
    const fields = this.#inFields;
    const isAhead = fields[head + LENGTH]! < 0;
    const length = Math.abs(fields[head + LENGTH]!);
    const bodyBytes = fieldBytes(length);
    const end = at + HEADER_BYTES + (isAhead ? 0 : bodyBytes);
    if (!Number.isInteger(length) || length > BODY_BYTES || end > SHM_FILE_BYTES || (isAhead && bodyBytes > at))
      throw new RangeError(`a record of ${length} bytes at ${at}`);
    if (end > this.#chunkEnd) return false;
    const socketOffset = fields[head + SOCKET_OFFSET]! || 0;
    this.#ats[file] = end;
    this.#read += 1;
    this.#peerPollMode = fields[head + POLLS]!;
    this.#writtenRead = fields[head + READ]!;
    if (isAhead) {
      this.#found = { socketOffset, bytes: this.#readAhead(file, length, at - bodyBytes) };
      this.#inFile = otherOf(file);
    } else if (length > 0) {
      const from = at - this.#chunkFrom + HEADER_BYTES;
      this.#found = { socketOffset, bytes: this.#in.subarray(from, from + length) };
    }
    return true;
  }

  #readAhead(file: FileIndex, length: number, at: number): Buffer {
    // The next record is in the other file.
    this.#hasChunk = false;
    if (this.#files.read(file, this.#in, length, at) < length) throw new RangeError(`no record of ${length} bytes at ${at}`);
    return this.#in.subarray(0, length);
  }

  /** Where the next record begins; its header at least is then in `#in`. */
  #findRecord(file: FileIndex): number | undefined {
    const at = this.#ats[file];
    if (this.#holdsRecord(at)) return at;
    // The peer may have truncated a long file once it knew that all of it was read. By now the file may be longer than
    // it was.
    if (at >= LONG_BYTES && this.#readTold === this.#read && this.#readChunk(file, 0)) return 0;
    return this.#readChunk(file, at) ? at : undefined;
  }

  /** Is all of that record in `#in` already, read along with the one ahead of it? */
  #holdsRecord(at: number): boolean {
    if (!this.#hasChunk) return false;
    const head = (at - this.#chunkFrom) / FIELD_BYTES;
    const left = this.#chunkEnd - at - HEADER_BYTES;
    return left >= 0 && this.#inFields[head + NUMBER] === this.#read + 1 && left >= fieldBytes(this.#inFields[head + LENGTH]!);
  }

  /**
   * Reads from there on. True: the next record begins there. A file that the peer has not truncated yet still has its
   * old records.
   */
  #readChunk(file: FileIndex, at: number): boolean {
    const size = this.#files.read(file, this.#in, this.#in.length, at);
    const isRecord = size >= HEADER_BYTES && this.#inFields[NUMBER] === this.#read + 1;
    this.#hasChunk = true;
    this.#chunkFrom = at;
    this.#chunkEnd = isRecord ? at + size : at;
    return isRecord;
  }
}

function otherOf(which: FileIndex): FileIndex {
  return which === 0 ? 1 : 0;
}

/** Bodies are padded, so that every record begins at a multiple of a field. */
function fieldBytes(length: number): number {
  return Math.ceil(length / FIELD_BYTES) * FIELD_BYTES;
}
