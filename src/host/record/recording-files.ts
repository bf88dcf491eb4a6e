/**
 * Trusted side: the files of a recording, in `recordings` of the state folder, for their owner alone. Each host writes its own, so several
 * may share the folder. All files together are bounded in bytes, and each in age: whole files are removed, the oldest first.
 */
import { appendFile, mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { RECORDINGS_FOLDER } from "../../protocol/recording.ts";

/** So many files share the bounds: what is removed at once is a part, not everything. */
const PARTS = 8;
const NAME = /^(\d{13})-[\w.-]+\.jsonl$/;

export interface Bounds {
  readonly maxBytes: number;
  readonly maxAgeMs: number;
}

export class RecordingFiles {
  readonly #folder: string;
  readonly #host: string;
  readonly #bounds: Bounds;
  #current: { readonly path: string; readonly beganAt: number; bytes: number } | undefined;

  constructor(stateDir: string, host: string, bounds: Bounds) {
    this.#folder = join(stateDir, RECORDINGS_FOLDER);
    this.#host = host;
    this.#bounds = bounds;
  }

  /** Whole lines. */
  async append(text: string, now = Date.now()): Promise<void> {
    const { maxBytes, maxAgeMs } = this.#bounds;
    const bytes = Buffer.byteLength(text);
    const current = this.#current;
    if (!current || current.bytes + bytes > maxBytes / PARTS || now - current.beganAt > maxAgeMs / PARTS) {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await this.prune(now, bytes);
      // Two parts of the same millisecond would be one file past its bound.
      const beganAt = Math.max(now, (current?.beganAt ?? 0) + 1);
      this.#current = { path: join(this.#folder, `${beganAt}-${this.#host}.jsonl`), beganAt, bytes: 0 };
    }
    this.#current!.bytes += bytes;
    await appendFile(this.#current!.path, text, { mode: 0o600 });
  }

  /** Removes what is too old, and the oldest files until a new part fits. */
  async prune(now = Date.now(), room = 0): Promise<void> {
    const { maxBytes, maxAgeMs } = this.#bounds;
    const names = await recordingFiles(this.#folder);
    let left = maxBytes - Math.max(room, Math.floor(maxBytes / PARTS));
    for (const name of names.toReversed()) {
      const path = join(this.#folder, name);
      const found = await stat(path).catch(() => undefined);
      left -= found?.size ?? 0;
      // The last line of a file is as old as its last change.
      if (left < 0 || (found && now - found.mtimeMs > maxAgeMs)) await rm(path, { force: true });
    }
  }
}

/** The oldest first. */
export async function recordingFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => NAME.test(name)).toSorted();
}
