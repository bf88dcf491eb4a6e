/**
 * Inside the isolate: changes of the volume, sent to the host at the end of the turn in their order. A file that is
 * written many times in a turn is sent once, from the first byte that differs, so that a line appended to a log costs a
 * line. The host applies early changes before later ones have made room. So when something shrinks, the files written
 * until then are sealed, and later writes to them are sent after it.
 */
import { LIMITS } from "../../../../protocol/limits.ts";
import { costOf } from "../../../../protocol/messages/files.ts";
import type { VolumeChange } from "../../../../protocol/messages/files.ts";
import { requestHost } from "../../turn/requests.ts";
import { turn } from "../../turn/mailbox.ts";
import { utf8Length } from "../buffer/codecs.ts";
import { bufferClass, bytesOf } from "./fs-content.ts";
import { Fault } from "./fs-errors.ts";
import { entriesOf } from "./fs-node.ts";
import type { Entry, File } from "./fs-node.ts";

/** A file's new content, read when it is sent or sealed. */
interface Put {
  readonly file: File;
  readonly path: string;
  /** The first byte that differs, and its character index while the file is text. */
  offset: number;
  chars: number | undefined;
  /**
   * The content when it was sealed. Bytes may change in place afterwards: then they are sent again, and only the size
   * counts.
   */
  sealed: { readonly text: string | undefined; readonly size: number } | undefined;
  /** The next write of the same file. What that one sends is not sent twice. */
  later: Put | undefined;
  /** A later change removes the file, so only its existence is sent. */
  isDoomed: boolean;
}

const CHUNK_CHARS = 96 * 1024;
const CHUNK_BYTES = 96 * 1024;
const BATCH_CHARS = LIMITS.requests.bytes - 1024;
/** JSON may escape one character as six. Beyond this ratio base64 is shorter. */
const STRETCH = 4 / 3;

export class ChangeQueue {
  #log: (VolumeChange | Put)[] = [];
  readonly #open = new Map<File, Put>();
  /** The last write of each file, sealed or not. */
  readonly #last = new Map<File, Put>();
  /** Counts every change. */
  changes = 0;
  #startedMs = 0;
  #spentBytes = 0;
  /** The cost of this turn's changes that were not sent yet. */
  #owedBytes = 0;
  /** How many files this turn's changes removed or moved along with their folders. */
  #rows = 0;
  #broken: string | undefined;
  #persisted: { readonly call: number; readonly promise: Promise<unknown> } | undefined;

  /** Throws if nothing may be written now. */
  check(): void {
    if (this.#broken !== undefined) throw new Fault("EIO", this.#broken);
    const isOver = Date.now() - this.#startedMs > LIMITS.files.windowMs;
    if ((isOver ? 0 : this.#spentBytes) + this.#owedBytes <= LIMITS.files.writeBytes) return;
    throw new Fault(
      "EDQUOT",
      `${LIMITS.files.writeBytes} bytes may be written in ${LIMITS.files.windowMs / 1000} s, and a change counts as ${LIMITS.files.changeBytes}`,
    );
  }

  made(path: string): void {
    this.#note(["mkdir", path]);
  }

  removed(entry: Entry, path: string): void {
    let rows = -1;
    for (const one of entriesOf(entry)) {
      rows += 1;
      const put = one.kind === "file" ? this.#open.get(one) : undefined;
      if (put) put.isDoomed = true;
      this.#open.delete(one as File);
    }
    this.#seal();
    this.#note(["rm", path], rows);
  }

  moved(entry: Entry, from: string, to: string): void {
    // Later writes go to the new path.
    this.#seal();
    let rows = -1;
    for (const _ of entriesOf(entry)) rows += 1;
    this.#note(["mv", from, to], rows);
  }

  /**
   * Called before a write that makes the file shorter. If it is the only open file and the last change, it is sent as
   * it is in the end and need not be sealed.
   */
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

  /** Resolves when the host has stored all changes so far. Calls in one tick share one request. */
  persisted(): Promise<unknown> {
    if (this.#persisted?.call === turn.call) return this.#persisted.promise;
    const promise = Promise.resolve().then(() => {
      this.#persisted = undefined;
      this.#flush();
      if (this.#broken !== undefined) throw new Error(`EIO: i/o error, fsync (${this.#broken})`);
      return requestHost("fs.sync", null);
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

  /** A later write sends all of its content, so here an empty file is enough. */
  #empty(put: Put): void {
    this.#owedBytes -= owed(put);
    put.offset = 0;
    put.chars = 0;
    put.sealed = { text: "", size: 0 };
  }

  #note(item: VolumeChange | Put, rows = 0): void {
    this.changes += 1;
    this.#owedBytes += costOf(0, rows);
    this.#rows += rows;
    // A microtask still belongs to this turn.
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
        if (batch.length === LIMITS.files.changes || chars + length > BATCH_CHARS) {
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
    this.#spentBytes += this.#rows * LIMITS.files.rowBytes;
    this.#rows = 0;
  }

  /** Sent on behalf of no call: it must arrive even if the call is given up, and its response starts nothing. */
  #send(batch: readonly VolumeChange[]): void {
    const { call } = turn;
    turn.call = 0;
    requestHost("fs.write", batch).catch((error: unknown) => {
      this.#broken = `the host did not write it down: ${(error as Error).message}`;
    });
    turn.call = call;
  }

  #charge(change: VolumeChange): void {
    const nowMs = Date.now();
    if (nowMs - this.#startedMs > LIMITS.files.windowMs) {
      this.#startedMs = nowMs;
      this.#spentBytes = 0;
    }
    this.#spentBytes += costOf(change[0] === "put" ? change[5].length : 0);
  }
}

/** The cost of a sealed write beyond the fixed cost of a change. */
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
    // Do not cut a surrogate pair.
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
