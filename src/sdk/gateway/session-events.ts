/**
 * Trusted side: `session:start` and `session:end` for gateways that do not emit them, from what they have: the data of OpenClaw's
 * typed `session_start`, `agent_end` and `session_end`. How the last run ended, its last words and what was passed along when the
 * session started are remembered per session until it ends (session-memory.ts): with a state folder in a file there, so that they
 * survive a restart and any number of sessions; without one in memory, where the least recently used sessions are forgotten.
 */
import type { Catalog, EventOf } from "../../protocol/catalog.ts";
import type { Emitted } from "../../host/host-api.ts";
import { REMEMBERED_SESSIONS } from "../../host/bounded-map.ts";
import { SessionMemory } from "./session-memory.ts";
import { lastAssistantText, stopReasonOf } from "./stop-reason.ts";
import type { AgentEnd, StopReason } from "./stop-reason.ts";

export interface SessionStarted {
  readonly sessionId: string;
  readonly sessionKey?: string | undefined;
  readonly resumedFrom?: string | undefined;
  /** Given to the plugins with `session:start`, and again with `session:end`. A workflow's id, for example. */
  readonly metadata?: Record<string, unknown> | undefined;
  /** Now, if it is missing. */
  readonly timestamp?: Date | undefined;
}

export interface SessionEnded {
  readonly sessionId: string;
  readonly sessionKey?: string | undefined;
  readonly stopReason?: StopReason | undefined;
  readonly lastMessage?: string | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
  readonly timestamp?: Date | undefined;
}

/** `session_start`'s data as a `session:start` event. */
export function sessionStartEvent(started: SessionStarted): EventOf<Catalog["session:start"]> {
  const { sessionId, sessionKey = "", resumedFrom, metadata, timestamp = new Date() } = started;
  const context = { ...(resumedFrom !== undefined && { resumedFrom }), ...(metadata && { metadata }) };
  return { type: "session", action: "start", sessionKey, sessionId, timestamp, context };
}

/** A `session:end` event. Without a reason the session ended with `stop`. */
export function sessionEndEvent(ended: SessionEnded): EventOf<Catalog["session:end"]> {
  const { sessionId, sessionKey = "", stopReason = "stop", lastMessage, metadata, timestamp = new Date() } = ended;
  const context = { stopReason, ...(lastMessage !== undefined && { lastMessage }), ...(metadata && { metadata }) };
  return { type: "session", action: "end", sessionKey, sessionId, timestamp, context };
}

export interface SessionEventsOptions {
  /** How many sessions are kept in memory. */
  readonly maxSessions?: number;
  /** Where to keep what is remembered. Default: the host's state folder. */
  readonly stateDir?: string | undefined;
  /** The file could not be read or written. The sessions in memory are still known. */
  readonly onFailure?: (error: unknown) => void;
}

/** What the tracker needs of a host. */
export interface SessionEventsHost {
  readonly stateDir?: string | undefined;
  emit(hook: "session:start", event: EventOf<Catalog["session:start"]>): unknown;
  emit(hook: "session:end", event: EventOf<Catalog["session:end"]>): Emitted | undefined | void;
}

type Known = Pick<SessionEnded, "sessionKey" | "stopReason" | "lastMessage" | "metadata">;

/** Follows a gateway's sessions and emits their beginning and end. All three calls return at once and never throw. */
export class SessionEvents {
  readonly #host: SessionEventsHost;
  readonly #known: SessionMemory<Known>;

  constructor(host: SessionEventsHost, options: SessionEventsOptions = {}) {
    const { maxSessions = REMEMBERED_SESSIONS, stateDir = host.stateDir, onFailure = () => {} } = options;
    this.#host = host;
    this.#known = new SessionMemory(maxSessions, stateDir, onFailure);
  }

  /** A session has started: the data of `session_start`, and what should come back with its end. */
  started(session: SessionStarted): void {
    const { sessionId, sessionKey, metadata } = session;
    this.#known.set(sessionId, { sessionKey, metadata });
    this.#host.emit("session:start", sessionStartEvent(session));
  }

  /** An agent's run in the session has ended: the data of `agent_end`. Emits nothing, a session may have many runs. */
  ran(sessionId: string, run: AgentEnd): void {
    this.#known.set(sessionId, {
      ...this.#known.get(sessionId),
      stopReason: stopReasonOf(run),
      lastMessage: lastAssistantText(run.messages),
    });
  }

  /** The session has ended: the data of `session_end`; what it does not say is what was remembered. */
  ended(session: SessionEnded): void {
    const known = this.#known.get(session.sessionId);
    const said = Object.fromEntries(Object.entries(session).filter(([, value]) => value !== undefined)) as unknown as SessionEnded;
    const emitted = this.#host.emit("session:end", sessionEndEvent({ ...known, ...said }));
    // Last: a gateway that dies in between ends the session once more when it is back, and still knows its workflow.
    const forget = (): void => this.#known.delete(session.sessionId);
    if (emitted) emitted.kept.then(forget, () => {});
    else forget();
  }

  /** Closes the file of sessions. The events of later calls still go out. */
  close(): Promise<void> {
    return this.#known.close();
  }
}
