/**
 * Inside the isolate: what happened to the volume, told to the host at the end of the turn. Changes keep their order. A file that is written to many times in a
 * turn is told once, from the first byte that differs, so a line at the end of a log costs a line. What is told early must fit before what is told late has made
 * room: so when something shrinks, the files written to until then are sealed, and what is written to them from then on is told after it.
 */
import { LIMITS } from "../../../protocol/limits.ts";
import { costOf } from "../../../protocol/volume.ts";
import type { VolumeChange } from "../../../protocol/volume.ts";
import { ask } from "../asks.ts";
import { turn } from "../mailbox.ts";
import { utf8Length } from "./codecs.ts";
import { bufferClass, bytesOf } from "./fs-content.ts";
import { Fault } from "./fs-errors.ts";
import { entriesOf } from "./fs-node.ts";
import type { Entry, File } from "./fs-node.ts";

/** A file's new content, which is looked at when it is told, or is sealed before. */
interface Put {
  readonly file: File;
  readonly path: string;
  /** The first byte that differs, and the character it is, while the file is text. */
  offset: number;
  chars: number | undefined;
  /** What it was when it was sealed. Bytes may change in place since: then they are told again, and only their number counts. */
  sealed: { readonly text: string | undefined; readonly size: number } | undefined;
  /** The next one of the same file: what that tells is not told twice. */
  later: Put | undefined;
  /** It is removed later on: only that it was there counts. */
  isDoomed: boolean;
}

const CHUNK_CHARS = 96 * 1024;
const CHUNK_BYTES = 96 * 1024;
const BATCH_CHARS = LIMITS.askBytes - 1024;
/** JSON may make six characters of one: past this, base64 is shorter. */
const STRETCH = 4 / 3;

export class Journal {
  #log: (VolumeChange | Put)[] = [];
  readonly #open = new Map<File, Put>();
  /** The last one of each file, sealed or not. */
  readonly #last = new Map<File, Put>();
  /** Counts up with every change. */
  changes = 0;
  #startedMs = 0;
  #spentBytes = 0;
  /** Of this turn, that is not told yet. */
  #owedBytes = 0;
  #broken: string | undefined;
  #persisted: { readonly call: number; readonly promise: Promise<unknown> } | undefined;

  /** Throws when nothing may be written now. */
  check(): void {
    if (this.#broken !== undefined) throw new Fault("EIO", this.#broken);
    const isOver = Date.now() - this.#startedMs > LIMITS.volumeWindowMs;
    if ((isOver ? 0 : this.#spentBytes) + this.#owedBytes <= LIMITS.volumeWriteBytes) return;
    throw new Fault(
      "EDQUOT",
      `${LIMITS.volumeWriteBytes} bytes may be written in ${LIMITS.volumeWindowMs / 1000} s, and a change counts as ${LIMITS.volumeChangeBytes}`,
    );
  }

  made(path: string): void {
    this.#note(["mkdir", path]);
  }

  removed(entry: Entry, path: string): void {
    for (const one of entriesOf(entry)) {
      const put = one.kind === "file" ? this.#open.get(one) : undefined;
      if (put) put.isDoomed = true;
      this.#open.delete(one as File);
    }
    this.#seal();
    this.#note(["rm", path]);
  }

  moved(entry: Entry, from: string, to: string): void {
    // What is written from here on is written to the new place.
    this.#seal();
    this.#note(["mv", from, to]);
  }

  /** Before it is written to, and becomes shorter by it. Whoever is alone, and the last that was written to, is told as it is in the end. */
  shrinks(file: File): void {
    const put = this.#open.get(file);
    if (this.#open.size !== 1 || put === undefined || this.#log.at(-1) !== put) this.#seal();
  }

  wrote(file: File, path: string, offset: number, chars: number | undefined): void {
    const put = this.#open.get(file);
    if (!put) {
      const made = { file, path, offset, chars, sealed: undefined, later: undefined, isDoomed: false };
      const before = this.#last.get(file);
      if (before) before.later = made;
      if (before && offset === 0) this.#empty(before);
      this.#open.set(file, made);
      this.#last.set(file, made);
      this.#note(made);
    } else {
      this.changes += 1;
      if (offset >= put.offset) return;
      put.offset = offset;
      put.chars = chars;
    }
  }

  /** Resolves when the host has written down what happened so far. All who wait for it in one go ask once. */
  persisted(): Promise<unknown> {
    if (this.#persisted?.call === turn.call) return this.#persisted.promise;
    const promise = Promise.resolve().then(() => {
      this.#persisted = undefined;
      this.#flush();
      if (this.#broken !== undefined) throw new Error(`EIO: i/o error, fsync (${this.#broken})`);
      return ask("fs.sync", null);
    });
    this.#persisted = { call: turn.call, promise };
    return promise;
  }

  #seal(): void {
    for (const put of this.#open.values()) {
      const { data, size } = put.file.content;
      put.sealed = { text: typeof data === "string" ? data : undefined, size };
      this.#owedBytes += owed(put);
    }
    this.#open.clear();
  }

  /** All of it is told later: that there is a file is enough. */
  #empty(put: Put): void {
    this.#owedBytes -= owed(put);
    put.offset = 0;
    put.chars = 0;
    put.sealed = { text: "", size: 0 };
  }

  #note(item: VolumeChange | Put): void {
    this.changes += 1;
    this.#owedBytes += costOf(0);
    // A microtask, so still this turn.
    if (this.#log.length === 0) void Promise.resolve().then(() => this.#flush());
    this.#log.push(item);
  }

  #flush(): void {
    const log = this.#log;
    this.#log = [];
    this.#open.clear();
    this.#last.clear();
    this.#owedBytes = 0;
    let batch: VolumeChange[] = [];
    let chars = 0;
    for (const item of log) {
      for (const change of Array.isArray(item) ? [item as unknown as VolumeChange] : changesOf(item as Put)) {
        const length = JSON.stringify(change).length + 1;
        if (batch.length === LIMITS.volumeChanges || chars + length > BATCH_CHARS) {
          this.#send(batch);
          batch = [];
          chars = 0;
        }
        batch.push(change);
        chars += length;
        this.#charge(change);
      }
    }
    if (batch.length > 0) this.#send(batch);
  }

  /** It is nobody's question: it must arrive whatever becomes of the call, and its answer starts nothing. */
  #send(batch: readonly VolumeChange[]): void {
    const { call } = turn;
    turn.call = 0;
    ask("fs.write", batch).catch((error: unknown) => {
      this.#broken = `the host did not write it down: ${(error as Error).message}`;
    });
    turn.call = call;
  }

  #charge(change: VolumeChange): void {
    const nowMs = Date.now();
    if (nowMs - this.#startedMs > LIMITS.volumeWindowMs) {
      this.#startedMs = nowMs;
      this.#spentBytes = 0;
    }
    this.#spentBytes += costOf(change[0] === "put" ? change[5].length : 0);
  }
}

/** Of a sealed one, beside what any change costs. */
function owed({ sealed, offset }: Put): number {
  return Math.max(0, (sealed?.size ?? 0) - offset);
}

function* changesOf({ file, path, offset, chars, sealed, later, isDoomed }: Put): Generator<VolumeChange> {
  const { content, mtimeMs } = file;
  const timeMs = Math.max(0, mtimeMs);
  const data = sealed?.text ?? content.data;
  const size = sealed?.text === undefined ? Math.min(sealed?.size ?? Infinity, content.size) : sealed.size;
  const end = Math.min(size, later?.offset ?? Infinity);
  const start = Math.min(offset, end);
  const isWhole = end === size && (sealed === undefined || sealed.text !== undefined);
  if (isDoomed) yield ["put", path, 0, timeMs, "u", ""];
  else if (isWhole && typeof data === "string" && chars !== undefined) yield* putsOfText(path, data.slice(chars), start, timeMs);
  else yield* putsOfBytes(path, bytesOf(data).subarray(start, end), start, timeMs);
}

function* putsOfText(path: string, text: string, offset: number, timeMs: number): Generator<VolumeChange> {
  let at = offset;
  let start = 0;
  do {
    let end = Math.min(start + CHUNK_CHARS, text.length);
    // Not between the halves of a character.
    if (end < text.length && (text.charCodeAt(end) & 0xfc00) === 0xdc00) end -= 1;
    const part = text.slice(start, end);
    if (JSON.stringify(part).length > part.length * STRETCH + 16) yield* putsOfBytes(path, bytesOf(part), at, timeMs);
    else yield ["put", path, at, timeMs, "u", part];
    at += utf8Length(part);
    start = end;
  } while (start < text.length);
}

function* putsOfBytes(path: string, bytes: Uint8Array, offset: number, timeMs: number): Generator<VolumeChange> {
  let start = 0;
  do {
    const part = bytes.subarray(start, start + CHUNK_BYTES);
    yield ["put", path, offset + start, timeMs, "b", bufferClass().from(part).toString("base64")];
    start += CHUNK_BYTES;
  } while (start < bytes.length);
}
