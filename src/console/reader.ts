/**
 * Trusted side: one open page at the end of a stream of lines. A page that does not read fast enough loses lines and is told how many:
 * nothing piles up in the gateway. A line that replaces an earlier one (`latest`) is sent when there is room again.
 */
import type { ServerResponse } from "node:http";

export class Reader {
  readonly #response: ServerResponse;
  readonly #waiting = new Map<string, () => object>();
  #isBlocked = false;
  #dropped = 0;

  constructor(response: ServerResponse, left: () => void) {
    this.#response = response;
    response.on("drain", () => this.#drained());
    response.once("close", left);
  }

  /** One of many; `count`: how many things are lost with it. */
  send(line: string, count: number): void {
    if (this.#isBlocked) this.#dropped += count;
    else this.#write(line);
  }

  /** The state of something: only the latest counts. `json` is the line, already made for the other readers. */
  latest(key: string, make: () => object, json?: string): void {
    if (this.#isBlocked) this.#waiting.set(key, make);
    else this.#write(json ?? lineOf(make()));
  }

  end(): void {
    this.#response.end();
  }

  #drained(): void {
    this.#isBlocked = false;
    if (this.#dropped > 0) this.#write(lineOf({ dropped: this.#dropped }));
    this.#dropped = 0;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const [key, make] of waiting) this.latest(key, make);
  }

  #write(line: string): void {
    if (!this.#response.write(line)) this.#isBlocked = true;
  }
}

export function lineOf(line: object): string {
  return `${JSON.stringify(line)}\n`;
}
