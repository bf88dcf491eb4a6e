/** Processes that change a state folder, for tests that kill them; see state-child.ts for their commands. */
import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { folder, QUICK } from "../support/files.ts";
import type { Order } from "./state-child.ts";

const SCRIPT = fileURLToPath(new URL("state-child.ts", import.meta.url));
const processes = new Set<ChildProcessWithoutNullStreams>();
afterAll(() => {
  for (const child of processes) child.kill("SIGKILL");
});

/** Compiling their imports is most of their start-up time. */
const NODE_COMPILE_CACHE = folder({}, QUICK);

export class Child {
  readonly #process = spawn(process.execPath, ["-C", "source", SCRIPT], { env: { ...process.env, NODE_COMPILE_CACHE } });
  readonly pid = this.#process.pid!;
  readonly #gone = once(this.#process, "close");
  readonly lines: string[] = [];
  #errors = "";

  constructor() {
    processes.add(this.#process);
    this.#process.once("close", () => processes.delete(this.#process));
    let rest = "";
    this.#process.stdout.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      this.lines.push(...lines);
    });
    this.#process.stderr.setEncoding("utf8").on("data", (text: string) => (this.#errors += text));
  }

  order(order: Order): this {
    this.#process.stdin.write(`${JSON.stringify(order)}\n`);
    return this;
  }

  /** It has printed this many lines. */
  async said(count: number): Promise<void> {
    while (this.lines.length < count) await Promise.race([once(this.#process.stdout, "data"), this.#failed()]);
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  /** By then, all its output has been read. */
  async gone(): Promise<{ isFinished: boolean }> {
    await this.#gone;
    if (this.#errors !== "") throw new Error(this.#errors);
    return { isFinished: this.lines.at(-1) === "finished" };
  }

  async #failed(): Promise<never> {
    await this.gone();
    throw new Error("the process ended by itself");
  }
}

/** Starting a process takes longer than its work, so the next ones start meanwhile. */
export function* started(ahead: number): Generator<Child, never> {
  const waiting = Array.from({ length: ahead }, () => new Child());
  for (;;) {
    waiting.push(new Child());
    yield waiting.shift()!;
  }
}
