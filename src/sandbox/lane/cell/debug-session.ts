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

export class DebugSession {
  readonly #raw: RawSession;
  readonly #said: (message: string) => void;
  #unanswered = 0;
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
    this.#clock ??= setInterval(() => this.#raw.dispatchProtocolMessage(NO_OP), LIMITS.inspect.wakeMs);
  }

  /** The turn under way ends, at once or when the debugger lets it go on. */
  terminate(): void {
    this.#raw.dispatchProtocolMessage(JSON.stringify({ id: OWN_ID, method: "Runtime.terminateExecution" }));
  }

  /** While the host blocks on a run, no debugger can resume the isolate, so it does not pause. */
  skipPauses(skip: boolean): void {
    this.#raw.dispatchProtocolMessage(JSON.stringify({ id: OWN_ID, method: "Debugger.setSkipAllPauses", params: { skip } }));
  }

  /** An isolate that is paused goes on. */
  close(): void {
    this.#stopClock();
    this.#raw.onResponse = () => {};
    this.#raw.onNotification = () => {};
    this.#raw.dispose();
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
