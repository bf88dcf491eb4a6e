/**
 * Trusted side: the connection of a joined host. It is opened again when it was lost, and remembers what the host said last, what
 * listeners want and whether a client offers to answer approvals.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { OFFERS } from "../../protocol/serve.ts";
import type { Offer, ServeMethod, ServeState } from "../../protocol/serve.ts";
import type { ApprovalQuestion } from "../../host/run/approvals/question.ts";
import type { Logger } from "../../host/report/log.ts";
import type { AgentEmission, TurnInjection } from "../../host/services/session/agent-turns.ts";
import type { SessionPatch } from "../../host/services/session/session.ts";
import type { OpenOptions } from "../options.ts";
import type { HostLink, LinkOptions, Question, RequestOptions } from "./host-link.ts";
import { Subscriptions } from "./subscriptions.ts";

export interface JoinedOptions {
  /** Where the host is, for the log. */
  readonly place: string;
  /** Connects. Rejects with a CreelError. */
  open(options: LinkOptions): Promise<HostLink>;
  readonly gateway: NonNullable<OpenOptions["gateway"]>;
  readonly logger: Logger;
  /** Does the gateway's work for a question. */
  readonly answering: (question: Question, work: () => Promise<unknown>) => Promise<unknown>;
}

export class JoinedLink {
  readonly #options: JoinedOptions;
  readonly subscriptions: Subscriptions;
  /** How many offers to answer approvals stand; each new connection repeats it. */
  #offers = 0;
  #link: HostLink | undefined;
  #opening: Promise<HostLink> | undefined;
  /** The last known state. */
  #state: ServeState | undefined;
  hostId = "";
  isClosed = false;
  #isHeld = true;

  constructor(options: JoinedOptions) {
    this.#options = options;
    this.subscriptions = new Subscriptions(options.logger, () => this.#link);
  }

  /** What the host said last. */
  known(): ServeState {
    this.#state = this.#link?.state ?? this.#state;
    return this.#state!;
  }

  async request(method: ServeMethod, params: object, options: RequestOptions = {}, hook: string = method): Promise<unknown> {
    if (this.isClosed) throw new CreelError("ERR_HOST_CLOSED");
    // Not awaited when there is a connection: requests go out in the order they were made.
    const link = this.#link?.isOpen ? this.#link : await this.connected();
    options.signal?.throwIfAborted();
    try {
      return await link.request(method, params, options);
    } catch (error) {
      // What JSON.stringify throws: a cycle, or a BigInt.
      if (error instanceof TypeError) throw new CreelError("ERR_EVENT_NOT_JSON", { hook, detail: error.message });
      throw error;
    }
  }

  /** Sends a request whose answer is not needed. */
  order(method: ServeMethod, params: object, cause?: string): void {
    this.request(method, params, { cause }).catch((error: unknown) =>
      this.#options.logger.error({ method, err: error }, "a request to the host failed"),
    );
  }

  /** Sends a notification, at once if there is a connection. */
  tell(method: ServeMethod, params: object, cause: string | undefined, failed: (error: unknown) => void): void {
    const tell = (link: HostLink): void => link.tell(method, params, cause);
    try {
      if (this.#link?.isOpen) tell(this.#link);
      else this.connected().then(tell).catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  offerAnswers(): () => void {
    let isOver = false;
    if (++this.#offers === 1) this.order("offerAnswers", { offers: true });
    return () => {
      if (!isOver && --this.#offers === 0 && !this.isClosed) this.order("offerAnswers", { offers: false });
      isOver = true;
    };
  }

  connected(): Promise<HostLink> {
    if (this.isClosed) return Promise.reject(new CreelError("ERR_HOST_CLOSED"));
    if (this.#link?.isOpen) return Promise.resolve(this.#link);
    this.#opening ??= this.#connect().finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  /** Whether the connection, and each that follows, keeps the gateway's process alive. */
  setRef(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#link?.setRef(isHeld);
  }

  get isBusy(): boolean {
    return this.#opening !== undefined || this.#link?.isBusy === true;
  }

  /** Requests in flight may finish, for a while. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    const link = this.#link;
    if (!link?.isOpen) return;
    const patience = new AbortController();
    await Promise.race([link.drained(), sleep(LIMITS.sandbox.drainMs, undefined, { signal: patience.signal }).catch(() => {})]);
    patience.abort();
    await link.close();
  }

  async #connect(): Promise<HostLink> {
    const { gateway, answering } = this.#options;
    const asked: LinkOptions["asked"] = (question, signal) => answering(question, () => this.#answer(question, signal));
    const link = await this.#options.open({
      offers: OFFERS.filter((offer) => gateway[offer] !== undefined),
      wantsState: true,
      told: (told) => this.subscriptions.tell(told),
      asked,
      lost: (error) => this.#lost(error),
    });
    this.#link = link;
    link.setRef(this.#isHeld);
    this.hostId = link.hostId;
    this.subscriptions.connected(link);
    if (this.#offers > 0) link.tell("offerAnswers", { offers: true }, undefined);
    return link;
  }

  #lost(error: CreelError): void {
    const { place, logger } = this.#options;
    this.known();
    this.subscriptions.lost();
    if (this.#link && !this.isClosed) logger.warn({ path: place, detail: error.message }, "the connection to the host was lost");
  }

  async #answer({ ask, params }: Question, signal: AbortSignal): Promise<unknown> {
    const { gateway } = this.#options;
    const answers: Record<Offer, () => unknown> = {
      getSession: () => gateway.getSession?.(params.key as string),
      patchSession: () => gateway.patchSession?.(params.patch as SessionPatch, params.by as { plugin?: string }),
      enqueueInjection: () => gateway.enqueueInjection?.(params.injection as TurnInjection, params.by as { plugin: string }),
      emitAgentEvent: () => gateway.emitAgentEvent?.(params.event as AgentEmission, params.by as { plugin: string }),
      requestApproval: () => gateway.requestApproval?.(params as unknown as ApprovalQuestion, { signal }),
    };
    return await answers[ask]();
  }
}
