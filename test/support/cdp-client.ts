/** A debugger: a WebSocket that speaks the Chrome DevTools Protocol. */
import { WebSocket } from "ws";

export interface Paused {
  readonly reason: string;
  readonly callFrames: readonly {
    readonly callFrameId: string;
    readonly functionName: string;
    readonly url: string;
    readonly location: { readonly scriptId: string; readonly lineNumber: number; readonly columnNumber: number };
    readonly scopeChain: readonly { readonly type: string; readonly object: { readonly objectId: string } }[];
  }[];
  readonly hitBreakpoints?: readonly string[];
}

export class CdpClient {
  readonly #socket: WebSocket;
  readonly #answers = new Map<number, (answer: { result?: unknown; error?: { message: string } }) => void>();
  readonly #unread: { method: string; params: unknown }[] = [];
  #wake: () => void = () => {};
  #next = 1;
  readonly closed: Promise<number>;

  static async connect(url: string, headers: Record<string, string> = {}): Promise<CdpClient> {
    const socket = new WebSocket(url, { headers });
    const client = new CdpClient(socket);
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    return client;
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => void socket.once("close", resolve));
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as { id?: number; method: string; params: unknown };
      if (message.id === undefined) {
        this.#unread.push(message);
        this.#wake();
      } else this.#answers.get(message.id)?.(message as never);
    });
  }

  /** Rejects with the message of an error. */
  async send<T = Record<string, unknown>>(method: string, params: object = {}): Promise<T> {
    const id = this.#next++;
    const { promise, resolve } = Promise.withResolvers<{ result?: unknown; error?: { message: string } }>();
    this.#answers.set(id, resolve);
    this.#socket.send(JSON.stringify({ id, method, params }));
    const { result, error } = await promise;
    this.#answers.delete(id);
    if (error) throw new Error(error.message);
    return result as T;
  }

  /** The next notification of this method for which `fits` holds. Earlier ones are dropped. */
  async next<T>(method: string, fits: (params: T) => boolean = () => true): Promise<T> {
    for (;;) {
      for (let message = this.#unread.shift(); message; message = this.#unread.shift())
        if (message.method === method && fits(message.params as T)) return message.params as T;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** The connection is cut, without a word. */
  kill(): void {
    this.#socket.terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await this.closed;
  }
}
