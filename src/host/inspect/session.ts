/**
 * Trusted side: a debugger inside of this process, for profiles and coverage. It speaks to the inspected cell as one
 * that has connected through the door does; with a session there is no door. What the cell answers is untrusted: who
 * uses it checks it.
 */
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Client } from "./door.ts";

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message?: unknown };
  readonly method?: string;
  readonly params?: unknown;
}

export class InspectSession implements Client {
  /** The source map of the plugin that was loaded last, as a data URL, with the author's files in it. */
  mapUrl: string | undefined;
  readonly #answers = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #listeners = new Map<string, (params: unknown) => void>();
  /** Undefined: the host is not open yet, and commands wait. */
  #listener: ((message: string) => void) | undefined;
  readonly #early: string[] = [];
  #end: () => void = () => {};
  #next = 1;

  /** Rejects if the cell refuses the command, or is gone. */
  command(method: string, params: object = {}): Promise<unknown> {
    const id = this.#next++;
    const answer = Promise.withResolvers<unknown>();
    // The caller may have stopped waiting.
    answer.promise.catch(() => {});
    this.#answers.set(id, answer);
    const message = JSON.stringify({ id, method, params });
    if (this.#listener) this.#listener(message);
    else this.#early.push(message);
    return answer.promise;
  }

  /** One listener for each kind of notification. */
  on(method: string, listener: (params: unknown) => void): void {
    this.#listeners.set(method, listener);
  }

  /**
   * Ends the turn that the plugin is in. Its cell is replaced, so the answer may be an error, or never come: the host that is closed next
   * takes the process along.
   */
  async terminate(working: Promise<unknown> = Promise.resolve()): Promise<void> {
    const ended = this.command("Runtime.terminateExecution").catch(() => {});
    const clock = Promise.withResolvers<void>();
    const timer = setTimeout(clock.resolve, LIMITS.inspect.terminateMs);
    await Promise.race([Promise.all([ended, working]), clock.promise]);
    clearTimeout(timer);
  }

  /** The cell goes on without a debugger. */
  end(): void {
    this.#end();
    for (const answer of this.#answers.values()) answer.reject(new CreelError("ERR_INSPECT_REFUSED", { detail: "the session has ended" }));
    this.#answers.clear();
  }

  send(message: string): void {
    const { id, result, error, method, params } = JSON.parse(message) as Answer;
    if (id === undefined) return this.#listeners.get(String(method))?.(params);
    const answer = this.#answers.get(id);
    this.#answers.delete(id);
    if (error) answer?.reject(new CreelError("ERR_INSPECT_REFUSED", { detail: String(error.message) }));
    else answer?.resolve(result);
  }

  onMessage(listener: (message: string) => void): void {
    this.#listener = listener;
    for (const message of this.#early.splice(0)) listener(message);
  }

  onEnd(listener: () => void): void {
    this.#end = listener;
  }
}
