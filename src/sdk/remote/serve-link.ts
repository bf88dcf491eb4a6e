/** Trusted side: the client's end of a connection to `creel serve`: requests with their responses, and the host's notifications. */
import { connect } from "node:net";
import type { Socket } from "node:net";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { fromWire, LineDecoder, SERVE_PROTOCOL, serverFrame } from "../../protocol/serve.ts";
import type { ClientFrame, RequestId, ServeMethod, ServerFrame, ServeState } from "../../protocol/serve.ts";
import type { HostLink, LinkOptions, Question, RequestOptions } from "./host-link.ts";
import { checkFolder, readKey } from "./serve-place.ts";

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly updated: ((update: unknown, dropped: number) => void) | undefined;
  readonly asked: LinkOptions["asked"] | undefined;
}

export interface ServeLinkOptions extends LinkOptions {
  /** The socket. */
  readonly path: string;
}

export class ServeLink implements HostLink {
  readonly #options: ServeLinkOptions;
  readonly #socket: Socket;
  readonly #decoder = new LineDecoder();
  readonly #pending = new Map<RequestId, Pending>();
  /** Questions that are being answered. */
  readonly #asked = new Map<number, AbortController>();
  readonly #welcomed = Promise.withResolvers<void>();
  #lastId = 0;
  #failure: CreelError | undefined;
  #isWelcome = false;
  #drained: (() => void) | undefined;
  hostId = "";
  hostPid = 0;
  state: ServeState | undefined;

  /** Whether it keeps the gateway's process alive. */
  setRef(isHeld: boolean): void {
    // Of a socket that has ended, Node would keep a listener each time.
    if (this.#socket.destroyed) return;
    if (isHeld) this.#socket.ref();
    else this.#socket.unref();
  }

  get isBusy(): boolean {
    return this.#pending.size > 0 || this.#asked.size > 0;
  }

  static async open(options: ServeLinkOptions): Promise<ServeLink> {
    const { path } = options;
    try {
      await checkFolder(path);
    } catch (error) {
      if (error instanceof CreelError) throw error;
      throw new CreelError("ERR_SERVE_CONNECT", { path, detail: (error as Error).message });
    }
    const key = await readKey(path);
    if (!key) throw new CreelError("ERR_SERVE_CONNECT", { path, detail: "creel serve is not running, or another user runs it" });
    const link = new ServeLink(options, connect(path));
    link.#send({ hello: { protocol: SERVE_PROTOCOL, token: key.token, offers: [...options.offers], state: options.wantsState } });
    const late = setTimeout(() => link.#fail("it did not answer in time"), LIMITS.serve.helloMs);
    try {
      await link.#welcomed.promise;
    } finally {
      clearTimeout(late);
    }
    return link;
  }

  private constructor(options: ServeLinkOptions, socket: Socket) {
    this.#options = options;
    this.#socket = socket;
    socket.on("data", (chunk) => this.#read(chunk));
    socket.on("error", (error) => this.#fail(error.message));
    socket.on("close", () => this.#fail("the host has ended"));
  }

  get isOpen(): boolean {
    return this.#failure === undefined;
  }

  request(method: ServeMethod, params: object | undefined, options: RequestOptions = {}): Promise<unknown> {
    return this.start(method, params, options).answer;
  }

  /** Also returns the id of the request: a subscription is known by it after its response. */
  start(
    method: ServeMethod,
    params: object | undefined,
    { signal, cause, traceparent, updated, asked }: RequestOptions = {},
  ): { readonly id: number; readonly answer: Promise<unknown> } {
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    if (this.#failure) {
      reject(this.#failure);
      return { id, answer: promise };
    }
    // First: it throws for a value that is not JSON.
    const line = textOf({ id, method, params, ...(cause !== undefined && { cause }), ...(traceparent !== undefined && { traceparent }) });
    const onAbort = (): void => {
      this.#forget(id);
      this.cancel(id);
      reject(signal!.reason);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    const settled = (): void => signal?.removeEventListener("abort", onAbort);
    this.#pending.set(id, {
      resolve: (value) => (settled(), resolve(value)),
      reject: (error) => (settled(), reject(error)),
      updated,
      asked,
    });
    this.#socket.write(line);
    return { id, answer: promise };
  }

  /** Sends a notification: there is no response. */
  tell(method: ServeMethod, params: object, cause: string | undefined): void {
    this.#send({ method, params, ...(cause !== undefined && { cause }) });
  }

  cancel(id: RequestId): void {
    if (this.isOpen) this.#send({ cancel: id });
  }

  /** Sends what is queued, then closes the connection. */
  async close(): Promise<void> {
    if (!this.isOpen) return;
    const closed = new Promise<void>((resolve) => this.#socket.once("close", () => resolve()));
    this.#socket.end();
    const late = setTimeout(() => this.#socket.destroy(), LIMITS.serve.helloMs);
    await closed;
    clearTimeout(late);
  }

  /** Resolves when every request has its response, or the connection is gone. */
  drained(): Promise<void> {
    return this.#pending.size === 0 ? Promise.resolve() : new Promise((resolve) => (this.#drained = resolve));
  }

  #forget(id: RequestId): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#drained?.();
    return pending;
  }

  #send(frame: ClientFrame): void {
    this.#socket.write(textOf(frame));
  }

  #read(chunk: Buffer): void {
    try {
      for (const line of this.#decoder.push(chunk)) this.#hear(serverFrame.parse(JSON.parse(line)));
    } catch (error) {
      this.#fail(`it said what is not of the protocol: ${(error as Error).message}`);
    }
  }

  #hear(frame: ServerFrame): void {
    if ("id" in frame) return this.#answered(frame);
    if ("event" in frame) return this.#options.told(frame);
    if ("question" in frame) return void this.#answer(frame);
    if ("withdrawn" in frame) return this.#asked.get(frame.withdrawn)?.abort();
    if ("update" in frame) return this.#pending.get(frame.update)?.updated?.(frame.value, frame.dropped ?? 0);
    if ("welcome" in frame) {
      this.state = frame.state;
      this.hostId = frame.welcome.host;
      this.hostPid = frame.welcome.pid;
      this.#isWelcome = true;
      return this.#welcomed.resolve();
    }
    if ("state" in frame) {
      this.state = frame.state;
      return;
    }
    if ("bye" in frame) return this.#fail(frame.bye);
    this.#fail(frame.error.message, fromWire(frame.error));
  }

  #answered(frame: Extract<ServerFrame, { id: unknown }>): void {
    const pending = this.#forget(frame.id);
    if ("error" in frame) pending?.reject(fromWire(frame.error));
    else pending?.resolve(frame.ok ?? undefined);
  }

  async #answer(question: Question): Promise<void> {
    const { question: number, run } = question;
    // The run of this question has ended: its caller cannot answer any more.
    const asked = run === undefined ? this.#options.asked : this.#pending.get(run)?.asked;
    const stop = new AbortController();
    this.#asked.set(number, stop);
    let frame: ClientFrame;
    try {
      frame = { answer: number, ok: await asked?.(question, stop.signal) };
    } catch (error) {
      frame = { answer: number, error: { message: error instanceof Error ? error.message : String(error) } };
    }
    this.#asked.delete(number);
    if (this.isOpen) this.#send(frame);
  }

  #fail(detail: string, because?: CreelError): void {
    if (this.#failure) return;
    const { path } = this.#options;
    const code = this.#isWelcome ? "ERR_SERVE_LOST" : "ERR_SERVE_CONNECT";
    this.#failure = because && !this.#isWelcome ? because : new CreelError(code, { path, detail });
    this.#socket.destroy();
    this.#welcomed.reject(this.#failure);
    // After the welcome this promise is settled, and the rejection has no effect.
    this.#welcomed.promise.catch(() => {});
    for (const stop of this.#asked.values()) stop.abort();
    for (const { reject } of this.#pending.values()) reject(this.#failure);
    this.#pending.clear();
    this.#drained?.();
    this.#options.lost(this.#failure);
  }
}

function textOf(frame: ClientFrame): string {
  return `${JSON.stringify(frame)}\n`;
}
