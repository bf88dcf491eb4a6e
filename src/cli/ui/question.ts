/**
 * Trusted side: asks the person at the terminal. Interrupting (Ctrl-C, Ctrl-D, a closed terminal) is not an answer: it
 * ends the command with exit code 130 before anything is done. Keys typed before the question are dropped. SECURITY:
 * test/cli/consent-terminal.test.ts, on a pseudo-terminal
 */
import type { createInterface as CreateInterface } from "node:readline";

/** The person left. The command line prints the sentence and ends; nothing else may catch it and go on. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/** Rejects with Interrupted. An empty answer means the default that the question shows. */
export type Ask = (question: string) => Promise<string>;

/** Where a person may be. */
export interface Keyboard {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}

/** Not made above: `process.stdin` takes a tenth of a command that asks nothing. */
const own = (): Keyboard => ({ input: process.stdin, output: process.stdout });

/** Undefined: there is no terminal. `outcome` says what was done before the person interrupted. */
export function askerAt(outcome: () => string, { input, output }: Keyboard = own()): Ask | undefined {
  if (!input.isTTY || !output.isTTY) return undefined;
  // A terminal that is gone answers everything with EIO, also after the question.
  input.on("error", () => {});
  return async (question) => {
    await forgetTyped(input);
    // The input has ended already, and readline would wait for ever.
    if (input.readableEnded || input.destroyed) throw new Interrupted(outcome());
    // Not imported above: every command would load it, and most ask nothing.
    const { createInterface } = await import("node:readline");
    return answered(question, { input, output }, outcome, createInterface);
  };
}

function answered(question: string, keyboard: Keyboard, outcome: () => string, open: typeof CreateInterface): Promise<string> {
  return new Promise((resolve, reject) => {
    const lines = open(keyboard);
    let isOver = false;
    const end = (settle: () => void): void => {
      if (isOver) return;
      isOver = true;
      process.off("SIGHUP", leave);
      lines.close();
      settle();
    };
    const leave = (): void => end(() => reject(new Interrupted(outcome())));
    // A hang-up ends the process by default, with another exit code and in the middle of things.
    process.once("SIGHUP", leave);
    lines.on("error", leave);
    lines.once("SIGINT", leave);
    lines.once("close", leave);
    lines.question(question, (answer) => end(() => resolve(answer.trim().toLowerCase())));
  });
}

const forget = (): void => {};
const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

/** Two turns of the event loop: the first reads what the terminal has buffered. */
async function forgetTyped(input: NodeJS.ReadStream): Promise<void> {
  input.on("data", forget);
  input.resume();
  await turn();
  await turn();
  input.off("data", forget);
  input.pause();
}

/** Only the exact word counts. */
export function isYes(answer: string): boolean {
  return answer === "y" || answer === "yes";
}
