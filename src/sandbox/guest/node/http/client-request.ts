/**
 * Inside the isolate: `http.ClientRequest`. The request goes the way of `fetch`, once its body is complete: the host
 * checks the same grants, adds the same secrets and keeps the same limits. Redirects are not followed, as in Node.
 */
import { abortPart } from "../../web/fetch/parts.ts";
import { fetch } from "../../web/fetch/fetch.ts";
import type { AbortController } from "../../web/abort.ts";
import type { Response } from "../../web/fetch/response.ts";
import { EventEmitter } from "../events.ts";
import { nodeError } from "../errors.ts";
import { nextTick } from "../next-tick.ts";
import type { Agent } from "./agent.ts";
import { IncomingMessage } from "./incoming-message.ts";
import { OutgoingMessage } from "./outgoing-message.ts";
import { argumentsOf, targetOf } from "./request-options.ts";
import type { Target } from "./request-options.ts";

type Callback = (error?: Error | null) => void;
const Emitter = EventEmitter as unknown as new () => EventEmitter & { setMaxListeners(count: number): void };

/** Stands for the connection, which is the host's. Packages set options of it, and listen to it. */
class Connection extends Emitter {
  readonly connecting = false;
  readonly encrypted: boolean;
  readonly authorized: boolean;
  readonly remoteAddress = undefined;
  writable = true;
  readable = true;
  destroyed = false;

  constructor(isSecure: boolean, destroy: (error?: Error) => void) {
    super();
    this.encrypted = this.authorized = isSecure;
    this.setMaxListeners(0);
    for (const name of ["setKeepAlive", "setNoDelay", "setTimeout", "ref", "unref", "cork", "uncork"])
      Object.defineProperty(this, name, { value: () => this, writable: true, configurable: true });
    Object.defineProperty(this, "destroy", { value: destroy, writable: true, configurable: true });
  }
}

export class ClientRequest extends OutgoingMessage {
  readonly method: string;
  readonly path: string;
  readonly host: string;
  readonly protocol: string;
  readonly agent: Agent | undefined;
  readonly reusedSocket = false;
  readonly maxHeadersCount = null;
  aborted = false;
  res: IncomingMessage | undefined;
  readonly socket: Connection;
  readonly connection: Connection;
  timeout: number | undefined;
  timeoutCb: unknown = null;
  readonly #target: Target;
  #ending: AbortController | undefined;
  #timer: unknown;
  #isAnswered = false;

  constructor(usual: Agent, args: readonly unknown[]) {
    super({ autoDestroy: false, emitClose: true });
    const { options, callback } = argumentsOf(args);
    const target = targetOf(options, usual);
    this.#target = target;
    ({ method: this.method, path: this.path, host: this.host, protocol: this.protocol, agent: this.agent } = target);
    for (const [name, value] of target.headers) this.setHeader(name, value);
    this.socket = this.connection = new Connection(target.protocol === "https:", (error) => this.destroy(error));
    if (typeof callback === "function") this.once("response", callback as () => void);
    if (target.timeout !== undefined) this.setTimeout(target.timeout);
    const { signal } = target;
    if (signal) {
      const abort = (): void => void this.destroy(nodeError(Error, "ABORT_ERR", "The operation was aborted"));
      if (signal.aborted) nextTick(abort);
      else signal.addEventListener("abort", abort, { once: true });
    }
    nextTick(() => {
      if (this.destroyed) return;
      this.emit("socket", this.socket);
      if (String(this.getHeader("expect")).toLowerCase() === "100-continue") this.emit("continue");
    });
  }

  override _final(done: Callback): void {
    this.headersSent = true;
    this.finished = true;
    const { AbortController: Controller } = abortPart();
    this.#ending = new Controller();
    this.#touch();
    const body = this.body();
    const { url, method } = this.#target;
    fetch(url, { method, headers: this.headerTable(), body, redirect: "manual", signal: this.#ending.signal }).then(
      (response) => this.#answer(response),
      (error: unknown) => void this.destroy(error as Error),
    );
    done();
  }

  #answer(response: Response): void {
    if (this.destroyed) return;
    this.#isAnswered = true;
    this.#touch();
    const message = IncomingMessage.of(response, this.socket, this.method);
    this.res = message;
    message.req = this;
    message.onPiece = () => this.#touch();
    message.once("close", () => {
      this.#clear();
      if (!this.destroyed) super.destroy();
    });
    // Without a listener the response would never be read.
    if (!this.emit("response", message)) message.resume();
  }

  setTimeout(ms: number, callback?: () => void): this {
    this.timeout = ms;
    if (callback) this.once("timeout", callback);
    this.#touch();
    return this;
  }

  /** Something happened: the clock starts again. */
  #touch(): void {
    this.#clear();
    if (!this.timeout || this.destroyed) return;
    this.#timer = setTimeout(() => this.emit("timeout"), this.timeout);
  }

  #clear(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer as number);
    this.#timer = undefined;
  }

  setNoDelay(): void {}
  setSocketKeepAlive(): void {}
  clearTimeout(callback?: () => void): void {
    this.setTimeout(0, callback);
  }

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    nextTick(() => this.emit("abort"));
    this.destroy();
  }

  override destroy(error?: Error): this {
    if (this.destroyed) return this;
    const { res } = this;
    if (res && !res.complete) res.destroy(error);
    return super.destroy(error ?? (this.#isAnswered ? undefined : nodeError(Error, "ECONNRESET", "socket hang up")));
  }

  override _destroy(error: Error | null, done: Callback): void {
    this.#clear();
    this.socket.destroyed = true;
    this.socket.emit("close");
    if (!this.#isAnswered) this.#ending?.abort(error ?? undefined);
    done(error);
  }
}
