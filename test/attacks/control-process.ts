/** The gateway's end of the control process. */
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { StallSummary } from "./stalls.ts";

const FILE = fileURLToPath(new URL("./control.ts", import.meta.url));

export class ControlProcess implements AsyncDisposable {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(): Promise<ControlProcess> {
    const control = new ControlProcess(fork(FILE, { execArgv: ["-C", "source"], stdio: ["ignore", "ignore", "inherit", "ipc"] }));
    await control.take();
    return control;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** The stalls since the last time. */
  async take(): Promise<StallSummary> {
    const answer = once(this.#child, "message") as Promise<[StallSummary]>;
    this.#child.send("take");
    return (await answer)[0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#child, "exit");
    this.#child.disconnect();
    await exited;
  }
}
