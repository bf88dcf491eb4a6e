/** Inside the isolate: `readline`, lines of any readable stream. There is no terminal to edit a line in. */
import type { Readable, Writable } from "node:stream";
import { StringDecoder } from "../buffer/string-decoder.ts";
import { invalidArgType, nodeError } from "../errors.ts";
import { EventEmitter } from "../events.ts";
import { nextTick } from "../next-tick.ts";

const Emitter = EventEmitter as unknown as new () => EventEmitter;
const Decoder = StringDecoder as unknown as new (encoding: string) => { write(chunk: Uint8Array): string; end(): string };

export interface ReadlineOptions {
  readonly input?: Readable;
  readonly output?: Writable;
  readonly prompt?: string;
  readonly signal?: AbortSignal;
}
type Ask = (answer: string) => void;

const BREAK = /\r\n|\n|\r|\u2028|\u2029/;

export class Interface extends Emitter {
  readonly input: Readable;
  readonly output: Writable | undefined;
  readonly terminal = false;
  readonly line = "";
  closed = false;
  readonly #decoder = new Decoder("utf8");
  #prompt: string;
  #rest = "";
  #isAfterReturn = false;
  #asked: Ask | undefined;
  readonly #detach: () => void;

  constructor(given: ReadlineOptions | Readable, output?: Writable) {
    super();
    const options = (given !== null && typeof given === "object" && "input" in given ? given : { input: given, output }) as ReadlineOptions;
    const { input, prompt = "> ", signal } = options;
    if (typeof input?.on !== "function") throw invalidArgType("input", "an instance of Stream", input);
    this.input = input!;
    this.output = options.output ?? undefined;
    this.#prompt = prompt;
    const onData = (chunk: unknown): void => this.#take(typeof chunk === "string" ? chunk : this.#decoder.write(chunk as Uint8Array));
    const onEnd = (): void => this.#end();
    const onError = (error: unknown): boolean => this.emit("error", error);
    this.input.on("data", onData);
    this.input.on("end", onEnd);
    this.input.on("error", onError);
    this.#detach = () => {
      this.input.removeListener("data", onData);
      this.input.removeListener("end", onEnd);
      this.input.removeListener("error", onError);
    };
    if (signal) {
      if (signal.aborted) nextTick(() => this.close());
      else signal.addEventListener("abort", () => this.close(), { once: true });
    }
    this.input.resume();
  }

  #take(text: string): void {
    // A pair that was cut in two is one break.
    const fresh = this.#isAfterReturn && text.startsWith("\n") ? text.slice(1) : text;
    if (text !== "") this.#isAfterReturn = text.endsWith("\r");
    const lines = (this.#rest + fresh).split(BREAK);
    this.#rest = lines.pop()!;
    for (const line of lines) this.#say(line);
  }

  #say(line: string): void {
    const ask = this.#asked;
    this.#asked = undefined;
    if (ask) ask(line);
    else this.emit("line", line);
  }

  #end(): void {
    const rest = this.#rest + this.#decoder.end();
    this.#rest = "";
    if (rest !== "") this.#say(rest);
    this.close();
  }

  getPrompt(): string {
    return this.#prompt;
  }

  setPrompt(prompt: string): void {
    this.#prompt = prompt;
  }

  prompt(): void {
    this.resume();
    this.output?.write(this.#prompt);
  }

  question(query: string, options: unknown, done?: unknown): void {
    if (this.closed) throw nodeError(Error, "ERR_USE_AFTER_CLOSE", "readline was closed");
    const ask = (typeof options === "function" ? options : done) as Ask | undefined;
    if (typeof ask !== "function") return;
    if (this.#asked) return this.prompt();
    this.#asked = ask;
    this.resume();
    this.output?.write(query);
  }

  write(data?: string): void {
    if (this.closed) throw nodeError(Error, "ERR_USE_AFTER_CLOSE", "readline was closed");
    if (typeof data === "string") this.#take(data);
  }

  pause(): this {
    this.input.pause();
    this.emit("pause");
    return this;
  }

  resume(): this {
    this.input.resume();
    this.emit("resume");
    return this;
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.#detach();
    this.input.pause();
    this.emit("close");
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    const waiting: string[] = [];
    let wake: (() => void) | undefined;
    const notify = (): void => wake?.();
    const listener = (line: unknown): void => {
      waiting.push(line as string);
      notify();
    };
    const emitter = this as unknown as { on(name: string, run: (line: unknown) => void): void };
    emitter.on("line", listener);
    emitter.on("close", notify);
    try {
      for (;;) {
        while (waiting.length > 0) yield waiting.shift()!;
        if (this.closed) return;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      this.close();
    }
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Node's sequences, written to whatever stream it is. */
function sends(text: (...args: number[]) => string) {
  return (stream: Writable | undefined, ...args: unknown[]): boolean => {
    const done = args.find((one) => typeof one === "function") as (() => void) | undefined;
    const sent = text(...args.filter((one): one is number => typeof one === "number"));
    if (!stream || sent === "") {
      if (done) nextTick(done, null);
      return true;
    }
    return stream.write(sent, done as never);
  };
}

export const cursors = {
  clearLine: sends((direction = 0) => (direction < 0 ? "\u001b[1K" : direction > 0 ? "\u001b[0K" : "\u001b[2K")),
  clearScreenDown: sends(() => "\u001b[0J"),
  cursorTo: sends((x = 0, y?: number) => (y === undefined ? `\u001b[${x + 1}G` : `\u001b[${y + 1};${x + 1}H`)),
  moveCursor: sends(
    (dx = 0, dy = 0) =>
      (dx < 0 ? `\u001b[${-dx}D` : dx > 0 ? `\u001b[${dx}C` : "") + (dy < 0 ? `\u001b[${-dy}A` : dy > 0 ? `\u001b[${dy}B` : ""),
  ),
};

class PromisesInterface extends Interface {
  // oxlint-disable-next-line typescript/no-misused-promises -- as in Node
  override question(query: string): Promise<string> {
    return new Promise((resolve) => super.question(query, resolve));
  }
}
Object.defineProperty(PromisesInterface, "name", { value: "Interface" });

export const promises = {
  Interface: PromisesInterface,
  createInterface: (options: ReadlineOptions, output?: Writable): Interface => new PromisesInterface(options, output),
};

export default {
  Interface,
  ...cursors,
  createInterface: (options: ReadlineOptions, output?: Writable): Interface => new Interface(options, output),
  emitKeypressEvents: (): void => {},
  promises,
};
