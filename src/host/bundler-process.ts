/**
 * Trusted side: one bundler process, from outside. It has no environment of ours, one pipe, and one plugin at a time, so that it is
 * known who brought it down. While it has nothing to do it does not keep the gateway alive.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { CreelError } from "../protocol/errors.ts";
import { unpack } from "../protocol/frame.ts";
import { CONTROL_FD } from "../protocol/inherited.ts";
import { LIMITS } from "../protocol/limits.ts";
import { encodeFrames, FrameDecoder } from "../protocol/socket-framing.ts";
import { bundlerAnswer } from "./bundler-message.ts";
import type { BundlerAnswer } from "./bundler-message.ts";
import { oneLine } from "./guest-error.ts";
import { residentMeter } from "./lanes/resident.ts";

const ENTRY = fileURLToPath(new URL(`./bundler-child${import.meta.url.slice(import.meta.url.lastIndexOf("."))}`, import.meta.url));
/** How often its memory is looked at. */
const METER_MS = 100;
/** The code, its map, the plugin's own files, and a header with the modules it imports. */
const MAX_ANSWER_BYTES = LIMITS.bundleBytes + LIMITS.bundleMapBytes + LIMITS.packageSentChars + 512 * 1024;
/** How long it may take to be gone once its pipe is closed. */
const DYING_MS = 250;

export interface ProcessOptions {
  readonly wallMs: number;
  readonly memoryMb: number;
  /** The script it runs. */
  readonly entry: string;
}

export const PROCESS_OPTIONS: ProcessOptions = { wallMs: LIMITS.bundleMs, memoryMb: LIMITS.bundlerMb, entry: ENTRY };

export interface Answer {
  readonly answer: BundlerAnswer;
  readonly bodies: readonly string[];
}

export class BundlerProcess {
  readonly #options: ProcessOptions;
  readonly #child: ChildProcess;
  readonly #pipe: Socket;
  readonly #errors: Socket;
  readonly #decoder = new FrameDecoder(MAX_ANSWER_BYTES);
  readonly #residentBytes: () => number | undefined;
  /** Resolves when the process is gone, and all that it had said was heard. */
  readonly ended: Promise<void>;
  /** Rejects if it never comes to be. */
  readonly ready: Promise<void>;
  #awaited: PromiseWithResolvers<Answer> | undefined;
  #hasBegun = false;
  #startedMs = 0;
  /** Its last words. */
  #said = "";

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.#child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", options.entry], {
      cwd: dirname(options.entry),
      // SECURITY: no environment of ours, so no secret of ours. test/host/bundler.test.ts
      env: {},
      stdio: ["ignore", "ignore", "pipe", "pipe"],
    });
    this.#residentBytes = residentMeter(this.#child.pid, 0);
    // It is killed without goodbye: a reset is a normal end.
    this.#pipe = (this.#child.stdio[CONTROL_FD] as Socket)
      .on("data", (chunk: Buffer) => this.#hear(chunk))
      .on("error", () => {})
      // If it is dying it can say of what; if it only hung up it cannot be used again.
      .on("close", () => setTimeout(() => this.#child.kill("SIGKILL"), DYING_MS).unref());
    this.#errors = (this.#child.stderr as Socket)
      .on("data", (chunk: Buffer) => (this.#said = `${this.#said}${chunk.toString("utf8")}`.slice(-2_000)))
      .on("error", () => {});
    this.ended = this.#ends();
    this.ready = this.#starts();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** How long it has been at its plugin; 0: it has none. */
  get busyMs(): number {
    return this.#startedMs === 0 ? 0 : performance.now() - this.#startedMs;
  }

  /** Rejects when the process could not do it, and then the process is over. ERR_BUNDLER_START: it had not begun. */
  async work(frame: string): Promise<Answer> {
    const { wallMs, memoryMb } = this.#options;
    this.#awaited = Promise.withResolvers();
    this.#hasBegun = false;
    this.#startedMs = performance.now();
    this.#hold(true);
    const stop = (limit: string): void => this.#condemn(new CreelError("ERR_PLUGIN_BUNDLE_LIMIT", { limit }));
    const wall = setTimeout(() => stop(`${wallMs} ms`), wallMs);
    const meter = setInterval(() => {
      if ((this.#residentBytes() ?? 0) > memoryMb * 2 ** 20) stop(`${memoryMb} MB of memory`);
    }, METER_MS);
    try {
      this.#pipe.write(encodeFrames([frame]));
      return await this.#awaited.promise;
    } finally {
      clearTimeout(wall);
      clearInterval(meter);
      this.#startedMs = 0;
      this.#hold(false);
    }
  }

  kill(): void {
    this.#child.kill("SIGKILL");
    this.#pipe.destroy();
    this.#errors.destroy();
  }

  /** Waits for its end; until then the gateway stays. */
  async gone(): Promise<void> {
    this.#hold(true);
    await this.ended;
  }

  async #starts(): Promise<void> {
    const limitMs = LIMITS.sandboxStartMs;
    const late = setTimeout(() => this.#condemn(notStarted(`it was not ready within ${limitMs} ms`)), limitMs);
    this.#awaited = Promise.withResolvers();
    try {
      await this.#awaited.promise;
    } finally {
      clearTimeout(late);
      this.#hold(false);
    }
  }

  async #ends(): Promise<void> {
    let why: string;
    try {
      const [code, signal] = (await once(this.#child, "close")) as [number | null, string | null];
      why = signal ?? `exit code ${code}`;
    } catch (error) {
      why = (error as Error).message;
    }
    const detail = oneLine([why, lastWords(this.#said)].filter(Boolean).join(": "));
    this.#fail(this.#hasBegun ? new CreelError("ERR_PLUGIN_BUNDLE_CRASH", { detail }) : notStarted(detail));
  }

  #hear(chunk: Buffer): void {
    try {
      for (const frame of this.#decoder.push(chunk)) this.#take(frame);
    } catch {
      // SECURITY: too long, or not of the protocol, or not awaited. test/host/bundler.test.ts
      this.#condemn(new CreelError("ERR_PLUGIN_BUNDLE_CRASH", { detail: "it did not answer as agreed" }));
    }
  }

  #take(frame: string): void {
    const { header, bodies } = unpack(frame);
    const answer = bundlerAnswer.parse(header);
    if (!this.#awaited) throw new Error("nothing was asked");
    if ((answer.kind === "ready") !== (this.#startedMs === 0)) throw new Error("something else was asked");
    if (answer.kind === "begun") {
      this.#hasBegun = true;
      return;
    }
    this.#awaited.resolve({ answer, bodies });
    this.#awaited = undefined;
  }

  #condemn(error: CreelError): void {
    this.#fail(error);
    this.kill();
  }

  #fail(error: CreelError): void {
    this.#awaited?.reject(error);
    this.#awaited = undefined;
  }

  /** The gateway stays while something is waited for. */
  #hold(isHeld: boolean): void {
    for (const handle of [this.#child, this.#pipe, this.#errors]) {
      if (isHeld) handle.ref();
      else handle.unref();
    }
  }
}

function notStarted(detail: string): CreelError {
  return new CreelError("ERR_BUNDLER_START", { detail });
}

/** Of an exception that ended it the message, else the last line. */
function lastWords(text: string): string | undefined {
  const lines = text.split("\n").filter((line) => /\S/.test(line));
  return lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1);
}
