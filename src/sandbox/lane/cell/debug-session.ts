/**
 * Untrusted side, lane thread: a debugger's session with one isolate. It repairs one flaw of isolated-vm: a message
 * that arrives while the isolate is about to pause is not seen until the next message comes (10 of 3,000 immediate
 * resumes stalled). So while anything is unanswered, the session sends a message without effect every few milliseconds.
 */
import { LIMITS } from "../../../protocol/limits.ts";

/** A session of isolated-vm. */
export interface RawSession {
  dispatchProtocolMessage(message: string): void;
  dispose(): void;
  onResponse: (id: number, message: string) => void;
  onNotification: (message: string) => void;
}

/** The id of messages that the lane itself sends. Their responses are dropped. The host keeps its ids below this one. */
const OWN_ID = 2 ** 31 - 1;
const NO_OP = JSON.stringify({ id: OWN_ID, method: "Runtime.getIsolateId" });
/** Its answer says that what was sent before it was read. */
const LAST_ID = OWN_ID - 1;
const LAST = JSON.stringify({ id: LAST_ID, method: "Runtime.getIsolateId" });

export class DebugSession {
  readonly #raw: RawSession;
  readonly #said: (message: string) => void;
  #unanswered = 0;
  #isClosed = false;
  #clock: NodeJS.Timeout | undefined;

  constructor(raw: RawSession, said: (message: string) => void) {
    this.#raw = raw;
    this.#said = said;
    raw.onResponse = (id, message) => {
      if (id === OWN_ID) return;
      this.#unanswered -= 1;
      if (this.#unanswered <= 0) this.#stopClock();
      this.#tell(id, message);
    };
    raw.onNotification = (message) => this.#tell(undefined, message);
  }

  send(message: string): void {
    this.#unanswered += 1;
    this.#raw.dispatchProtocolMessage(message);
    this.#wake();
  }

  /**
   * The turn under way ends, and the debugger hears nothing more. The session closes when the isolate has read that: one that was closed at
   * once would take the message with it if the isolate was only about to pause.
   */
  terminate(): void {
    this.#stopClock();
    this.#mute();
    this.#raw.onResponse = (id) => {
      if (id === LAST_ID) setImmediate(() => this.close());
    };
    this.#raw.dispatchProtocolMessage(JSON.stringify({ id: OWN_ID, method: "Runtime.terminateExecution" }));
    this.#wake(LAST);
  }

  /** While the host blocks on a run, no debugger can resume the isolate, so it does not pause. */
  skipPauses(skip: boolean): void {
    this.#raw.dispatchProtocolMessage(JSON.stringify({ id: OWN_ID, method: "Debugger.setSkipAllPauses", params: { skip } }));
  }

  /** An isolate that is paused goes on. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopClock();
    this.#mute();
    this.#raw.dispose();
  }

  #mute(): void {
    this.#raw.onResponse = () => {};
    this.#raw.onNotification = () => {};
  }

  #wake(message = NO_OP): void {
    this.#clock ??= setInterval(() => this.#raw.dispatchProtocolMessage(message), LIMITS.inspect.wakeMs);
  }

  #stopClock(): void {
    clearInterval(this.#clock);
    this.#clock = undefined;
    this.#unanswered = 0;
  }

  /** A message that is too long for the link becomes an error, or is dropped if nobody waits for it. */
  #tell(id: number | undefined, message: string): void {
    if (Buffer.byteLength(message) <= LIMITS.inspect.messageBytes) return this.#said(message);
    const text = `the answer takes more than ${LIMITS.inspect.messageBytes} bytes`;
    if (id !== undefined) this.#said(JSON.stringify({ id, error: { code: -32_000, message: text } }));
  }
}
