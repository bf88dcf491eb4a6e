/** Inside the isolate: an open file as `fs/promises` has it. */
import { bufferClass } from "./fs-content.ts";
import { settled } from "./fs-tree.ts";
import { sync } from "./fs-sync.ts";

export class FileHandle {
  #fd: number;

  constructor(fd: number) {
    this.#fd = fd;
  }

  get fd(): number {
    return this.#fd;
  }

  appendFile(data: unknown, options?: unknown): Promise<void> {
    return settled(() => sync.writeFile(this.#fd, data, options));
  }

  chmod(mode: unknown): Promise<void> {
    return settled(() => sync.fchmod(this.#fd, mode));
  }

  chown(uid: unknown, gid: unknown): Promise<void> {
    return settled(() => sync.fchown(this.#fd, uid, gid));
  }

  close(): Promise<void> {
    return settled(() => {
      if (this.#fd >= 0) sync.close(this.#fd);
      this.#fd = -1;
    });
  }

  datasync(): Promise<void> {
    return settled(() => sync.fdatasync(this.#fd));
  }

  read(buffer?: unknown, ...rest: unknown[]): Promise<{ bytesRead: number; buffer: unknown }> {
    return settled(() => {
      const view = ArrayBuffer.isView(buffer)
        ? buffer
        : ((buffer as { buffer?: ArrayBufferView } | undefined)?.buffer ?? bufferClass().alloc(16_384));
      const bytesRead = ArrayBuffer.isView(buffer)
        ? sync.read(this.#fd, view, ...rest)
        : sync.read(this.#fd, { ...(buffer as object), buffer: view });
      return { bytesRead, buffer: view };
    });
  }

  readFile(options?: unknown): Promise<unknown> {
    return settled(() => sync.readFile(this.#fd, options));
  }

  stat(options?: { bigint?: unknown }): Promise<unknown> {
    return settled(() => sync.fstat(this.#fd, options));
  }

  sync(): Promise<void> {
    return settled(() => sync.fsync(this.#fd));
  }

  truncate(length?: unknown): Promise<void> {
    return settled(() => sync.ftruncate(this.#fd, length));
  }

  utimes(atime: unknown, mtime: unknown): Promise<void> {
    return settled(() => sync.futimes(this.#fd, atime, mtime));
  }

  write(data: unknown, ...rest: unknown[]): Promise<{ bytesWritten: number; buffer: unknown }> {
    return settled(() => ({ bytesWritten: sync.write(this.#fd, data, ...rest), buffer: data }));
  }

  /** Writes everything, from where the last write ended. */
  writeFile(data: unknown, options?: unknown): Promise<void> {
    return settled(() => sync.writeFile(this.#fd, data, options));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
