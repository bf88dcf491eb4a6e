/**
 * Gateway, trusted: one bundler child process, seen from outside. It gets an empty environment, one pipe and one plugin
 * at a time, so that the plugin that crashes it is known. While idle it does not keep the gateway alive.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { CreelError } from "../protocol/errors.ts";
import { unpack } from "../transport/frames.ts";
import { CONTROL_FD } from "../transport/inherited-fds.ts";
import { LIMITS } from "../protocol/limits.ts";
import { encodeFrames, FrameDecoder } from "../transport/socket-framing.ts";
import { bundlerAnswer } from "./messages.ts";
import type { BundlerAnswer } from "./messages.ts";
import { oneLine } from "../text/one-line.ts";
import { rssReader } from "../os/rss.ts";

const ENTRY = fileURLToPath(new URL(`./child/main${import.meta.url.slice(import.meta.url.lastIndexOf("."))}`, import.meta.url));
/** Only when run from source, as in the tests: half of its start is compiling. The package has no such file. */
const COMPILE_CACHE = ENTRY.endsWith(".ts") ? ["--import", new URL("../../scripts/compile-cache.mjs", import.meta.url).href] : [];
/** How often to check its memory. */
const METER_MS = 100;
/** The code, its map, the plugin's own files, and a header with the imported modules. */
const MAX_ANSWER_BYTES = LIMITS.bundler.bundleBytes + LIMITS.bundler.mapBytes + LIMITS.plugin.packageSentChars + 512 * 1024;
/** How long it may take to exit once its pipe is closed. */
const DYING_MS = 250;

export interface ProcessOptions {
  readonly wallMs: number;
  readonly memoryMb: number;
  /** The script it runs. */
  readonly entry: string;
}

export const PROCESS_OPTIONS: ProcessOptions = { wallMs: LIMITS.bundler.wallMs, memoryMb: LIMITS.bundler.memoryMb, entry: ENTRY };

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
  /** Resolves when the process has exited and its output was read. */
  readonly ended: Promise<void>;
  /** Rejects if it does not start. */
  readonly ready: Promise<void>;
  #awaited: PromiseWithResolvers<Answer> | undefined;
  #hasBegun = false;
  #startedMs = 0;
  /** The end of its error output. */
  #errorOutput = "";

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.#child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...COMPILE_CACHE, options.entry], {
      cwd: dirname(options.entry),
      // SECURITY: an empty environment, so no secrets of the gateway. test/bundler/bundler.test.ts
      env: {},
      stdio: ["ignore", "ignore", "pipe", "pipe"],
    });
    this.#residentBytes = rssReader(this.#child.pid, 0);
    // It is killed, not told to exit: a reset is normal.
    this.#pipe = (this.#child.stdio[CONTROL_FD] as Socket)
      .on("data", (chunk: Buffer) => this.#receive(chunk))
      .on("error", () => {})
      // A dying process may still report why; one that only closed its pipe is useless.
      .on("close", () => setTimeout(() => this.#child.kill("SIGKILL"), DYING_MS).unref());
    this.#errors = (this.#child.stderr as Socket)
      .on("data", (chunk: Buffer) => (this.#errorOutput = `${this.#errorOutput}${chunk.toString("utf8")}`.slice(-2_000)))
      .on("error", () => {});
    this.ended = this.#ends();
    this.ready = this.#starts();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Its resident memory; undefined: unknown here, or it is gone. */
  get rssBytes(): number | undefined {
    return this.#residentBytes();
  }

  /** Time spent on the current plugin; 0: idle. */
  get busyMs(): number {
    return this.#startedMs === 0 ? 0 : performance.now() - this.#startedMs;
  }

  /** Rejects when the process failed, and then the process is over. ERR_BUNDLER_START: it failed before it began. */
  async work(frame: string): Promise<Answer> {
    const { wallMs, memoryMb } = this.#options;
    this.#awaited = Promise.withResolvers();
    this.#hasBegun = false;
    this.#startedMs = performance.now();
    this.#hold(true);
    const stop = (limit: string): void => this.#abort(new CreelError("ERR_PLUGIN_BUNDLE_LIMIT", { limit }));
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

  /** Waits for its end and keeps the gateway alive until then. */
  async gone(): Promise<void> {
    this.#hold(true);
    await this.ended;
  }

  async #starts(): Promise<void> {
    const limitMs = LIMITS.sandbox.startMs;
    const late = setTimeout(() => this.#abort(notStarted(`it was not ready within ${limitMs} ms`)), limitMs);
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
    const detail = oneLine([why, messageOf(this.#errorOutput)].filter(Boolean).join(": "));
    this.#fail(this.#hasBegun ? new CreelError("ERR_PLUGIN_BUNDLE_CRASH", { detail }) : notStarted(detail));
  }

  #receive(chunk: Buffer): void {
    try {
      for (const frame of this.#decoder.push(chunk)) this.#take(frame);
    } catch {
      // SECURITY: the answer is too long, malformed or unexpected. test/bundler/bundler.test.ts
      this.#abort(new CreelError("ERR_PLUGIN_BUNDLE_CRASH", { detail: "its answer broke the protocol" }));
    }
  }

  #take(frame: string): void {
    const { header, bodies } = unpack(frame);
    const answer = bundlerAnswer.parse(header);
    if (!this.#awaited) throw new Error("an answer without a request");
    if ((answer.kind === "ready") !== (this.#startedMs === 0)) throw new Error("an answer to another request");
    if (answer.kind === "begun") {
      this.#hasBegun = true;
      return;
    }
    this.#awaited.resolve({ answer, bodies });
    this.#awaited = undefined;
  }

  #abort(error: CreelError): void {
    this.#fail(error);
    this.kill();
  }

  #fail(error: CreelError): void {
    this.#awaited?.reject(error);
    this.#awaited = undefined;
  }

  /** Keeps the gateway alive while it waits for an answer. */
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

/** The message of the exception that ended it, else the last line. */
function messageOf(text: string): string | undefined {
  const lines = text.split("\n").filter((line) => /\S/.test(line));
  return lines.find((line) => /^\w*Error\b/.test(line)) ?? lines.at(-1);
}
