/**
 * Untrusted side, lane thread: a debugger's session with one isolate. It works around two flaws of isolated-vm.
 * - A message that arrives while the isolate is about to pause is not seen until the next message comes (10 of 3,000 immediate resumes
 *   stalled). So while anything is unanswered, the session sends a message without effect every few milliseconds.
 * - Disposing of a session frees what the isolate's thread may be sending through: the process crashes, or the isolate stays paused. So a
 *   session that ends first makes the isolate silent, and is disposed of when nothing is unanswered.
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
const own = (method: string, params?: object): string => JSON.stringify({ id: OWN_ID, method, params });
const NO_OP = own("Runtime.getIsolateId");
/** Its response comes when the turn ends, or never: nobody waits for it. */
const TERMINATE_ID = OWN_ID - 1;
const TERMINATE = JSON.stringify({ id: TERMINATE_ID, method: "Runtime.terminateExecution" });
/** Of everything that speaks without being asked. An isolate that is paused goes on. */
const SILENCE = ["Debugger", "Runtime", "Console", "Profiler", "HeapProfiler"].map((domain) => own(`${domain}.disable`));

export class DebugSession {
  readonly #raw: RawSession;
  readonly #isGone: () => boolean;
  readonly #said: (message: string) => void;
  /** Commands of the debugger's. */
  #unanswered = 0;
  /** All that was sent. */
  #underWay = 0;
  #clock: NodeJS.Timeout | undefined;
  #ending: PromiseWithResolvers<void> | undefined;
  #isQuiet = false;
  /** A command of the debugger's may have no answer. */
  #ticksLeft = LIMITS.inspect.terminateMs / LIMITS.inspect.wakeMs;

  /** `isGone`: nothing may be sent to an isolate that was disposed of. */
  constructor(raw: RawSession, isGone: () => boolean, said: (message: string) => void) {
    this.#raw = raw;
    this.#isGone = isGone;
    this.#said = said;
    raw.onResponse = (id, message) => this.#answered(id, message);
    raw.onNotification = (message) => this.#ending ?? this.#tell(undefined, message);
  }

  send(message: string): void {
    this.#unanswered += 1;
    this.#dispatch(message);
    this.#wake();
  }

  /** While the host blocks on a run, no debugger can resume the isolate, so it does not pause. */
  skipPauses(skip: boolean): void {
    this.#dispatch(own("Debugger.setSkipAllPauses", { skip }));
  }

  /**
   * The debugger hears nothing more, and an isolate that is paused goes on; with `isTurnOver`, the turn under way ends. Resolves when the
   * isolate may be disposed of.
   */
  end(isTurnOver = false): Promise<void> {
    if (this.#ending) return this.#ending.promise;
    this.#ending = Promise.withResolvers();
    if (isTurnOver && !this.#isGone()) this.#raw.dispatchProtocolMessage(TERMINATE);
    for (const message of SILENCE) this.#dispatch(message);
    this.#wake();
    return this.#ending.promise;
  }

  #dispatch(message: string): void {
    if (this.#isGone()) return;
    this.#underWay += 1;
    this.#raw.dispatchProtocolMessage(message);
  }

  #answered(id: number, message: string): void {
    if (id === TERMINATE_ID) return;
    this.#underWay -= 1;
    if (this.#ending || id === OWN_ID) return;
    this.#unanswered -= 1;
    if (this.#unanswered <= 0) this.#stopClock();
    this.#tell(id, message);
  }

  #wake(): void {
    this.#clock ??= setInterval(() => this.#tick(), LIMITS.inspect.wakeMs);
  }

  #tick(): void {
    if (!this.#ending) return this.#dispatch(NO_OP);
    this.#ticksLeft -= 1;
    if (this.#underWay > 0 && this.#ticksLeft > 0 && !this.#isGone()) {
      this.#isQuiet = false;
      return this.#dispatch(NO_OP);
    }
    // Between two ticks the isolate's thread has left what it was sending through.
    if (this.#isQuiet) return this.#dispose(this.#ending);
    this.#isQuiet = true;
  }

  #dispose({ resolve }: PromiseWithResolvers<void>): void {
    this.#stopClock();
    this.#raw.dispose();
    resolve();
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
