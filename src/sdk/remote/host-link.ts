/**
 * Trusted side: a connection to a host in another process, whatever carries it. `ServeLink` is the one over the socket of `creel serve`. What
 * uses a link (joined-link.ts, subscriptions.ts) knows no socket, so that another transport is another class.
 */
import type { CreelError } from "../../protocol/errors.ts";
import type { Offer, RequestId, ServeMethod, ServerFrame, ServeState } from "../../protocol/serve.ts";

export type Told = Extract<ServerFrame, { event: unknown }>;
export type Question = Extract<ServerFrame, { question: unknown }>;

export interface LinkOptions {
  readonly offers: readonly Offer[];
  /** Keep `state` fresh? */
  readonly wantsState: boolean;
  readonly told: (told: Told) => void;
  /** Returns the gateway's answer; undefined is an answer, too. */
  readonly asked: (question: Question, signal: AbortSignal) => Promise<unknown>;
  /** Called once: every pending request has been rejected. */
  readonly lost: (error: CreelError) => void;
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly cause?: string | undefined;
  readonly traceparent?: string | undefined;
  readonly updated?: ((update: unknown, dropped: number) => void) | undefined;
  /** Answers the questions that belong to this request. */
  readonly asked?: LinkOptions["asked"] | undefined;
}

export interface HostLink {
  readonly isOpen: boolean;
  readonly hostId: string;
  /** Is anything unanswered, on either side? */
  readonly isBusy: boolean;
  /** What the host said last; undefined: it was not asked to. */
  readonly state: ServeState | undefined;
  request(method: ServeMethod, params: object | undefined, options?: RequestOptions): Promise<unknown>;
  /** Also returns the id of the request: a subscription is known by it after its response. */
  start(
    method: ServeMethod,
    params: object | undefined,
    options?: RequestOptions,
  ): { readonly id: number; readonly answer: Promise<unknown> };
  /** Sends a notification: there is no response. */
  tell(method: ServeMethod, params: object, cause: string | undefined): void;
  cancel(id: RequestId): void;
  /** Whether it keeps the gateway's process alive. */
  setRef(isHeld: boolean): void;
  /** Resolves when every request has its response, or the connection is gone. */
  drained(): Promise<void>;
  /** Sends what is queued, then closes the connection. */
  close(): Promise<void>;
}
