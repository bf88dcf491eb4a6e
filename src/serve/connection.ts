/**
 * Trusted side: one client of `creel serve`. Every frame from it is checked by a schema first, and everything it can
 * make grow is bounded.
 */
import { timingSafeEqual } from "node:crypto";
import type { Socket } from "node:net";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { FACT_NAMES } from "../protocol/fact-names.ts";
import { clientFrame, LineDecoder, SERVE_PARAMS, SERVE_PROTOCOL, toWire } from "../protocol/serve.ts";
import type { ClientFrame, Offer, RequestId, ServeMethod, ServerFrame, ServeState, EventFilter } from "../protocol/serve.ts";
import type { RequestApproval } from "../host/run/approvals/approvals.ts";
import { firstIssue } from "../text/schema-issue.ts";
import type { Logger } from "../host/report/log.ts";
import { suggest } from "../text/did-you-mean.ts";
import type { CoreHost } from "../host/host.ts";
import { CallUpdates } from "./call-updates.ts";
import type { UpdateOutlet } from "./call-updates.ts";
import type { CallbackClient } from "./callbacks.ts";
import { CHANGES, METHODS } from "./methods.ts";
import { matchesFilter } from "./event-filter.ts";

export interface ConnectionOptions {
  readonly host: CoreHost;
  readonly token: string;
  readonly logger: Logger;
  readonly number: number;
  state(): ServeState;
  /** How a run of its asks it for approvals. */
  approvalsOf(connection: Connection, run: RequestId): RequestApproval;
  /** The client has shown the token. */
  joined(connection: Connection): void;
  left(connection: Connection): void;
}

type Request = Extract<ClientFrame, { method: unknown }>;

export class Connection implements CallbackClient {
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #decoder = new LineDecoder();
  readonly #late: NodeJS.Timeout;
  /** Requests of the client. */
  readonly #pending = new Map<RequestId, AbortController>();
  readonly #subscriptions = new Map<RequestId, () => void>();
  /** Questions to the client. */
  readonly #questions = new Map<number, { readonly resolve: (value: unknown) => void; readonly reject: (error: unknown) => void }>();
  #lastQuestion = 0;
  /** Ends the client's offer to answer the approvals of all runs. */
  #withdrawAnswers: (() => void) | undefined;
  /** Requests that want no answer are counted, too. */
  #unanswered = 0;
  #isWelcome = false;
  #isOver = false;
  readonly #outlet: UpdateOutlet;
  readonly name: string;
  offers: ReadonlySet<Offer> = new Set();
  wantsState = false;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.name = `client-${options.number}`;
    this.#outlet = {
      get waitingBytes() {
        return socket.writableLength;
      },
      send: (frame) => this.#send(frame),
    };
    this.#late = setTimeout(() => this.#refuse("no hello arrived in time"), LIMITS.serve.helloMs);
    socket.on("data", (chunk) => this.#read(chunk));
    socket.on("error", () => this.#over());
    socket.on("close", () => this.#over());
  }

  /** Sends a new state, if the client asked for updates. */
  tellState(state: ServeState): void {
    if (this.#isWelcome && this.wantsState) this.#send({ state });
  }

  request(what: Offer, params: object, cause: string | undefined, signal?: AbortSignal, run?: RequestId): Promise<unknown> {
    const question = ++this.#lastQuestion;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    if (this.#isOver) return Promise.reject(new CreelError("ERR_SERVE_FAILED", { detail: "the gateway's client is gone" }));
    const withdraw = (): void => {
      this.#questions.delete(question);
      this.#send({ withdrawn: question });
      reject(signal!.reason);
    };
    signal?.addEventListener("abort", withdraw, { once: true });
    const settled = (): void => signal?.removeEventListener("abort", withdraw);
    this.#questions.set(question, {
      resolve: (value) => (settled(), resolve(value)),
      reject: (error) => (settled(), reject(error)),
    });
    const isSent = this.#send({
      question,
      ask: what,
      params: params as Record<string, unknown>,
      ...(cause !== undefined && { cause }),
      ...(run !== undefined && { run }),
    });
    if (!isSent) {
      this.#questions.get(question)?.reject(new CreelError("ERR_SERVE_FRAME", { detail: "the question is too large" }));
      this.#questions.delete(question);
    }
    return promise;
  }

  /** The host has closed: says goodbye, sends what is buffered, and disconnects. */
  end(why: string): void {
    if (this.#isOver) return;
    this.#send({ bye: why });
    this.#socket.end();
    // One that does not read is not waited for.
    setTimeout(() => this.#socket.destroy(), LIMITS.serve.helloMs).unref();
  }

  #read(chunk: Buffer): void {
    try {
      for (const line of this.#decoder.push(chunk)) {
        if (this.#isOver) return;
        if (line.trim() !== "") this.#hear(parsed(line));
      }
    } catch (error) {
      this.#hangUp(error instanceof CreelError ? error : new CreelError("ERR_SERVE_FRAME", { detail: (error as Error).message }));
    }
  }

  #hear(frame: ClientFrame): void {
    if ("hello" in frame) return this.#greet(frame.hello);
    // SECURITY: nothing is done for a client that has not shown the token. test/serve/hostile.test.ts
    if (!this.#isWelcome) return this.#refuse("the first frame is not a hello");
    if ("method" in frame) return void this.#serve(frame);
    if ("cancel" in frame) return this.#cancel(frame.cancel);
    const asked = this.#questions.get(frame.answer);
    this.#questions.delete(frame.answer);
    if (frame.error) asked?.reject(new Error(frame.error.message));
    else asked?.resolve(frame.ok);
  }

  #greet({ protocol, token, offers = [], state = false }: Extract<ClientFrame, { hello: unknown }>["hello"]): void {
    if (this.#isWelcome) return this.#refuse("a second hello");
    if (protocol !== SERVE_PROTOCOL) return this.#refuse(`the host speaks version ${SERVE_PROTOCOL} of the protocol, not ${protocol}`);
    if (!isSame(token, this.#options.token)) return this.#refuse("the token does not match the token file of the socket");
    clearTimeout(this.#late);
    this.#isWelcome = true;
    this.offers = new Set(offers);
    this.wantsState = state;
    const { host } = this.#options;
    this.#send({
      welcome: { protocol: SERVE_PROTOCOL, host: host.id, pid: process.pid },
      ...(state && { state: this.#options.state() }),
    });
    this.#options.joined(this);
  }

  async #serve({ id, method, params, cause, traceparent }: Request): Promise<void> {
    const answer = (frame: { ok: unknown } | { error: ReturnType<typeof toWire> }): void => {
      if (id !== undefined) this.#send({ id, ...frame });
    };
    const stop = new AbortController();
    try {
      if (this.#pending.size + this.#unanswered >= LIMITS.serve.pending)
        throw new CreelError("ERR_SERVE_BUSY", { limit: LIMITS.serve.pending });
      if (id !== undefined && (this.#pending.has(id) || this.#subscriptions.has(id)))
        throw new CreelError("ERR_SERVE_FRAME", { detail: `the id ${JSON.stringify(id)} is in use` });
    } catch (error) {
      return answer({ error: toWire(error) });
    }
    if (id === undefined) this.#unanswered += 1;
    else this.#pending.set(id, stop);
    try {
      const { host } = this.#options;
      const own = (): unknown => host.servedTo(this.name, () => this.#do(id, method, params, stop.signal));
      const work = traceparent === undefined ? own : (): unknown => host.tracedUnder(traceparent, own);
      const ok = await (cause === undefined ? work() : host.rejoin(cause, work));
      if (CHANGES.has(method)) this.tellState(this.#options.state());
      answer({ ok: ok ?? null });
    } catch (error) {
      answer({ error: toWire(stop.signal.aborted ? new CreelError("ERR_SERVE_CANCELLED") : error) });
    } finally {
      if (id === undefined) this.#unanswered -= 1;
      else this.#pending.delete(id);
    }
  }

  #do(id: RequestId | undefined, method: string, params: unknown, signal: AbortSignal): unknown {
    if (!Object.hasOwn(SERVE_PARAMS, method))
      throw new CreelError("ERR_SERVE_FRAME", { detail: `there is no method "${method}"${suggest(method, Object.keys(SERVE_PARAMS))}` });
    const name = method as ServeMethod;
    const checked = SERVE_PARAMS[name].safeParse(params);
    if (!checked.success) {
      const { field, detail } = firstIssue(checked.error);
      throw new CreelError("ERR_SERVE_FRAME", { detail: `the parameters of ${method} are not valid at "${field}": ${detail}` });
    }
    if (name === "subscribe") return this.#subscribe(id, checked.data as EventFilter);
    const updates = id === undefined ? undefined : new CallUpdates(this.#outlet, id);
    const update = (value: unknown): void => updates?.tell(value);
    const requestApproval: RequestApproval = (question, options) => {
      if (id === undefined) throw new CreelError("ERR_SERVE_FRAME", { detail: "a run that asks for approvals needs an id" });
      return this.#options.approvalsOf(this, id)(question, options);
    };
    const done = METHODS[name](this.#options.host, checked.data as never, {
      signal,
      update,
      requestApproval,
      offerAnswers: (offers) => this.#offerAnswers(offers),
    });
    return name === "call" ? (done as Promise<unknown>).finally(() => updates?.end()) : done;
  }

  #offerAnswers(offers: boolean): void {
    this.#withdrawAnswers?.();
    this.#withdrawAnswers = offers && !this.#isOver ? this.#options.host.offerAnswers() : undefined;
  }

  #subscribe(id: RequestId | undefined, filter: EventFilter): object {
    if (id === undefined) throw new CreelError("ERR_SERVE_FRAME", { detail: "a subscription needs an id" });
    if (this.#subscriptions.size >= LIMITS.serve.subscriptions)
      throw new CreelError("ERR_SERVE_BUSY", { limit: LIMITS.serve.subscriptions });
    const offs = (filter.facts ?? FACT_NAMES).map((event) =>
      this.#options.host.on(event, (fact) => {
        if (matchesFilter(filter, event, fact)) this.#send({ event, subscription: id, fact: fact as unknown as Record<string, unknown> });
      }),
    );
    this.#subscriptions.set(id, () => {
      for (const off of offs) off();
    });
    return { subscription: id };
  }

  #cancel(id: RequestId): void {
    this.#pending.get(id)?.abort(new CreelError("ERR_SERVE_CANCELLED"));
    this.#subscriptions.get(id)?.();
    this.#subscriptions.delete(id);
  }

  /** False: it is too large. */
  #send(frame: ServerFrame): boolean {
    if (this.#isOver || !this.#socket.writable) return true;
    let line = JSON.stringify(frame);
    if (Buffer.byteLength(line) > LIMITS.serve.frameBytes) {
      if (!("id" in frame)) {
        this.#options.logger.warn({ client: this.#options.number }, "frame too large to send");
        return false;
      }
      line = JSON.stringify({ id: frame.id, error: toWire(new CreelError("ERR_SERVE_FRAME", { detail: "the answer is too large" })) });
    }
    this.#socket.write(`${line}\n`);
    if (this.#socket.writableLength <= LIMITS.serve.bufferBytes) return true;
    // SECURITY: a client that does not read costs a bounded amount of memory. test/serve/hostile.test.ts
    this.#options.logger.warn(
      { client: this.#options.number, bytes: this.#socket.writableLength },
      "client disconnected: it does not read",
    );
    this.#socket.destroy();
    this.#over();
    return true;
  }

  #refuse(detail: string): void {
    this.#hangUp(new CreelError("ERR_SERVE_REFUSED", { detail }));
  }

  #hangUp(error: CreelError): void {
    if (this.#isOver) return;
    this.#options.logger.warn({ client: this.#options.number, detail: error.message }, "client disconnected: protocol error");
    this.#send({ error: toWire(error) });
    this.#over();
    this.#socket.end();
    this.#socket.destroySoon();
    // Further frames are not read.
    this.#socket.pause();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#late);
    for (const off of this.#subscriptions.values()) off();
    this.#subscriptions.clear();
    this.#withdrawAnswers?.();
    // The client no longer waits for these.
    for (const stop of this.#pending.values()) stop.abort(new CreelError("ERR_SERVE_CANCELLED"));
    for (const { reject } of this.#questions.values())
      reject(new CreelError("ERR_SERVE_FAILED", { detail: "the gateway's client is gone" }));
    this.#questions.clear();
    this.#options.left(this);
  }
}

function parsed(line: string): ClientFrame {
  const frame = clientFrame.safeParse(JSON.parse(line));
  if (!frame.success) throw new CreelError("ERR_SERVE_FRAME", { detail: "it is not a valid client frame" });
  return frame.data;
}

function isSame(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}
