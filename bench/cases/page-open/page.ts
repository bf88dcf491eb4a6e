/** A page of the console in another process (reader.ts), which is there as long as the case, shown or not. */
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export class Page implements AsyncDisposable {
  readonly #reader: ChildProcess = fork(fileURLToPath(new URL("./reader.ts", import.meta.url)));

  /** Has read the first line when it is shown. */
  async show(address: string): Promise<void> {
    await this.#told(address);
  }

  async hide(): Promise<void> {
    await this.#told("");
  }

  async #told(address: string): Promise<void> {
    const done = once(this.#reader, "message");
    this.#reader.send(address);
    await done;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#reader, "exit");
    this.#reader.kill();
    await ended;
  }
}
