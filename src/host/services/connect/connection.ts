/**
 * Trusted side: one connection of a plugin. The plugin asks for each piece, so the host reads no further ahead than its
 * sockets hold; a write is answered when the kernel has it. It ends when it is idle, stalled or too old, and with its
 * cell.
 */
import type { Socket } from "node:net";
import { CreelError } from "../../../protocol/errors.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import type { ConnectOpened, ConnectPiece } from "../../../protocol/messages/connect.ts";
import { wordsFor } from "../fetch/faults.ts";
import { isTls, opened, secure } from "./dial.ts";
import type { Secure } from "./dial.ts";

interface Clocks {
  readonly idleMs: number;
  readonly stallMs: number;
  readonly lifeMs: number;
}

export interface ConnectionOptions {
  /** As the grant names it. */
  readonly target: string;
  readonly clocks?: Partial<Clocks>;
  /** Counts bytes in either direction. Throws when there are too many. */
  carried(bytes: number): void;
  /** Does work for the plugin and charges the time to it. */
  measure<T>(work: () => T): T;
  /** It holds no socket any more. */
  released(): void;
}

interface Reader {
  resolve(piece: ConnectPiece): void;
  reject(error: Error): void;
}

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #clocks: Clocks;
  readonly #life: NodeJS.Timeout;
  readonly #ending = new AbortController();
  #idle: NodeJS.Timeout | undefined;
  #gathering: NodeJS.Timeout | undefined;
  #socket: Socket;
  #reader: Reader | undefined;
  #fault: CreelError | undefined;
  #hasEnded = false;
  /** Both sides have ended it, and nothing is left to read. */
  #isOver = false;
  #isWriting = false;
  #stopWrite: ((fault: CreelError) => void) | undefined;
  #isSecuring = false;
  /** Since the last write. */
  #reads = 0;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#options = options;
    this.#clocks = { ...LIMITS.connect, ...options.clocks };
    this.#socket = socket;
    const { lifeMs } = this.#clocks;
    this.#life = setTimeout(() => this.close(`it has lasted ${lifeMs / 1000} s`), lifeMs).unref();
    this.#listen(socket);
    this.#alive();
  }

  get isTls(): boolean {
    return isTls(this.#socket);
  }

  get isClosed(): boolean {
    return this.#fault !== undefined;
  }

  opened(): ConnectOpened {
    return opened(this.#socket);
  }

  /** Takes the place of an earlier read that still waits. Rejects with a CreelError. */
  read(): Promise<ConnectPiece> {
    this.#reader?.resolve({ superseded: true });
    this.#reader = undefined;
    if (this.#fault) return this.#isOver ? Promise.resolve({ end: true }) : Promise.reject(this.#fault);
    if (this.#isSecuring) return Promise.reject(closed("it becomes a TLS connection"));
    this.#reads += 1;
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
      this.#arrived();
    });
  }

  /** Resolves when the kernel has the bytes. Rejects with a CreelError. */
  async write(bytes: string, isEnd: boolean): Promise<void> {
    if (this.#fault) throw this.#fault;
    if (this.#isWriting || this.#isSecuring) throw closed("it was written to before an earlier write was done");
    this.#isWriting = true;
    this.#reads = 0;
    try {
      this.#options.carried(bytes.length);
      this.#alive();
      const socket = this.#socket;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      this.#stopWrite = reject;
      const done = (error?: Error | null): void => (error ? reject(error) : resolve());
      this.#options.measure(() => {
        if (bytes !== "") socket.write(bytes, "latin1", isEnd ? undefined : done);
        if (isEnd) socket.end(done);
        else if (bytes === "") resolve();
      });
      await promise;
    } catch (error) {
      throw this.#failed(error);
    } finally {
      this.#isWriting = false;
      this.#stopWrite = undefined;
      this.#alive();
    }
  }

  /** TLS from here on. What the server has sent in plain text so far counts as part of the handshake, and breaks it. */
  async secure(how: Secure, openMs: number = LIMITS.connect.openMs): Promise<ConnectOpened> {
    if (this.#fault) throw this.#fault;
    if (this.isTls || this.#isSecuring || this.#isWriting) throw closed("it cannot become a TLS connection now");
    this.#isSecuring = true;
    this.#reader?.resolve({ superseded: true });
    this.#reader = undefined;
    this.#forget(this.#socket);
    const { target } = this.#options;
    const clock = setTimeout(() => this.#end(new CreelError("ERR_CONNECT_TIMEOUT", { target, ms: openMs })), openMs);
    try {
      this.#socket = await secure(this.#socket, how, this.#ending.signal);
      this.#listen(this.#socket);
      return this.opened();
    } catch (error) {
      throw this.#failed(error);
    } finally {
      clearTimeout(clock);
      this.#isSecuring = false;
      this.#alive();
    }
  }

  close(detail = "the plugin closed it"): void {
    this.#end(closed(detail));
  }

  #listen(socket: Socket): void {
    // Reads on demand only: a flowing socket would fill the gateway's memory with what the plugin does not read.
    socket.pause();
    socket.on("readable", this.#arrived);
    socket.on("end", this.#ended);
    socket.on("error", this.#broke);
    socket.on("close", this.#broke);
  }

  #forget(socket: Socket): void {
    socket.off("readable", this.#arrived);
    socket.off("end", this.#ended);
    socket.off("error", this.#broke);
    socket.off("close", this.#broke);
  }

  readonly #ended = (): void => {
    this.#hasEnded = true;
    this.#arrived();
  };

  readonly #broke = (error?: unknown): void => {
    // A close after both sides have ended is none that anything waits for, except for a read that comes later.
    if (this.#hasEnded && !(error instanceof Error)) {
      this.#isOver = true;
      this.#arrived();
      this.#end(closed("both sides have ended it"));
    } else this.#failed(error instanceof Error ? error : Object.assign(new Error("cut"), { code: "ECONNRESET" }));
  };

  /** Something may have arrived. */
  readonly #arrived = (): void => {
    if (!this.#reader || this.#gathering) return;
    if (this.#socket.readableLength === 0 && !this.#hasEnded) {
      // Without this Node would not read from the kernel at all.
      this.#socket.read(0);
      return;
    }
    const late = this.#reads - LIMITS.connect.quickReads;
    const isMore = late > 0 && !this.#hasEnded && this.#socket.readableLength < LIMITS.connect.readBytes;
    if (!isMore) return this.#give();
    const waitMs = Math.min(late * LIMITS.connect.gatherStepMs, LIMITS.connect.gatherMs);
    this.#gathering = setTimeout(() => {
      this.#gathering = undefined;
      this.#give();
    }, waitMs).unref();
  };

  #give(): void {
    const reader = this.#reader;
    if (!reader) return;
    this.#reader = undefined;
    this.#alive();
    try {
      reader.resolve(this.#options.measure(() => this.#piece()));
    } catch (error) {
      reader.reject(this.#failed(error));
    }
  }

  #piece(): ConnectPiece {
    const { readableLength } = this.#socket;
    if (readableLength === 0) return { end: true };
    const bytes = this.#socket.read(Math.min(readableLength, LIMITS.connect.readBytes)) as Buffer | null;
    if (!bytes) return {};
    this.#options.carried(bytes.length);
    return { bytes: bytes.toString("latin1") };
  }

  /** Starts the clock of silence again. A write that waits has less time. */
  #alive(): void {
    clearTimeout(this.#idle);
    if (this.#fault) return;
    const { idleMs, stallMs } = this.#clocks;
    this.#idle = this.#isWriting
      ? setTimeout(() => this.close(`the server took no bytes for ${stallMs / 1000} s`), stallMs).unref()
      : setTimeout(() => this.close(`it was idle for ${idleMs / 1000} s`), idleMs).unref();
  }

  #failed(error: unknown): CreelError {
    const { target } = this.#options;
    // SECURITY: fixed words; Node's messages name addresses. test/host/services/connect/connect.test.ts
    const fault =
      this.#fault ?? (error instanceof CreelError ? error : new CreelError("ERR_CONNECT_FAILED", { target, detail: wordsFor(error) }));
    this.#end(fault);
    return fault;
  }

  #end(fault: CreelError): void {
    if (this.#fault) return;
    this.#fault = fault;
    clearTimeout(this.#life);
    clearTimeout(this.#idle);
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#forget(this.#socket);
    this.#socket.destroy();
    this.#ending.abort(fault);
    this.#stopWrite?.(fault);
    this.#reader?.reject(fault);
    this.#reader = undefined;
    this.#options.released();
  }
}

export function closed(detail: string): CreelError {
  return new CreelError("ERR_CONNECT_CLOSED", { detail });
}
