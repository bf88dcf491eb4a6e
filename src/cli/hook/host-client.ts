/**
 * Trusted side: the smallest client of `creel serve`, for one hook of another agent. It imports neither the SDK nor zod:
 * its process lives for one event, and loading them takes ten times as long as the call. What the host sends is checked
 * by hand.
 */
import { connect } from "node:net";
import type { Socket } from "node:net";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { SERVE_PROTOCOL } from "../../protocol/serve-version.ts";
import { checkFolder, readKey } from "../../sdk/remote/serve-place.ts";
import { isBag } from "../../serve/agents/format.ts";
import type { Bag } from "../../serve/agents/format.ts";
import type { HookOutcome, HookQuestion, HookRunner } from "../../serve/agents/judge.ts";

interface Pending {
  readonly resolve: (ok: unknown) => void;
  readonly reject: (error: unknown) => void;
  question?: HookQuestion;
}

export class HostClient implements HookRunner {
  readonly #socket: Socket;
  readonly #pending = new Map<number, Pending>();
  #chunks: Buffer[] = [];
  #held = 0;
  #lastId = 0;
  #failure: CreelError | undefined;

  /** Throws a CreelError. */
  static async open(path: string): Promise<HostClient> {
    const away = (detail: string): CreelError => new CreelError("ERR_SERVE_CONNECT", { path, detail });
    // SECURITY: another user's host would let everything pass. test/cli/hook/hook.test.ts
    await checkFolder(path).catch((error: unknown) => {
      throw error instanceof CreelError ? error : away("creel serve is not running");
    });
    const key = await readKey(path);
    if (!key) throw away("creel serve is not running, or another user runs it");
    return new HostClient(path, key.token);
  }

  private constructor(path: string, token: string) {
    this.#socket = connect(path);
    this.#socket.on("data", (chunk) => this.#read(chunk));
    this.#socket.on("error", ({ message }) => this.#fail(new CreelError("ERR_SERVE_CONNECT", { path, detail: message })));
    this.#socket.on("close", () => this.#fail(new CreelError("ERR_SERVE_LOST", { path, detail: "the host has ended" })));
    // The first request follows at once: a host that refuses the hello answers with an error and hangs up.
    this.#send({ hello: { protocol: SERVE_PROTOCOL, token } });
  }

  async run(hook: string, event: Bag, ctx: Bag): Promise<{ outcome: HookOutcome; question: HookQuestion | undefined }> {
    const { pending, answer } = this.#request("run", { hook, event, ctx, approvals: true });
    return { outcome: (await answer) as HookOutcome, question: pending.question };
  }

  async emit(hook: string, event: Bag, ctx: Bag): Promise<void> {
    // With an id, so that the process stays until the host has it.
    await this.#request("emit", { hook, event, ctx }).answer;
  }

  close(): void {
    this.#failure ??= new CreelError("ERR_HOST_CLOSED");
    this.#socket.destroy();
  }

  #request(method: string, params: Bag): { pending: Pending; answer: Promise<unknown> } {
    const { promise: answer, resolve, reject } = Promise.withResolvers<unknown>();
    const pending: Pending = { resolve, reject };
    if (this.#failure) reject(this.#failure);
    else {
      const id = ++this.#lastId;
      this.#pending.set(id, pending);
      this.#send({ id, method, params });
    }
    return { pending, answer };
  }

  #send(frame: object): void {
    this.#socket.write(`${JSON.stringify(frame)}\n`);
  }

  #read(chunk: Buffer): void {
    try {
      let at = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, at)) {
        this.#hold(chunk.subarray(at, end));
        const line = Buffer.concat(this.#chunks).toString("utf8");
        this.#chunks = [];
        this.#held = 0;
        at = end + 1;
        if (!this.#failure) this.#hear(JSON.parse(line));
      }
      this.#hold(chunk.subarray(at));
    } catch (error) {
      this.#fail(error instanceof CreelError ? error : garbage((error as Error).message));
    }
  }

  #hold(piece: Buffer): void {
    this.#held += piece.length;
    if (this.#held > LIMITS.serve.frameBytes) throw garbage(`a line of more than ${LIMITS.serve.frameBytes} bytes`);
    this.#chunks.push(piece);
  }

  #hear(frame: unknown): void {
    if (!isBag(frame)) throw garbage("a line is not a JSON object");
    if (typeof frame.question === "number") return this.#noted(frame.question, frame);
    const pending = typeof frame.id === "number" ? this.#pending.get(frame.id) : undefined;
    if (pending) {
      this.#pending.delete(frame.id as number);
      return "error" in frame ? pending.reject(said(frame.error)) : pending.resolve(frame.ok);
    }
    if ("error" in frame) throw said(frame.error);
    if (!("welcome" in frame || "bye" in frame || "withdrawn" in frame)) throw garbage("a line is no frame of the protocol");
  }

  /** There is no one to ask here: the agent asks its user, after this process has ended. */
  #noted(question: number, { run, params }: Bag): void {
    const pending = typeof run === "number" ? this.#pending.get(run) : undefined;
    if (pending && isBag(params) && isBag(params.params)) {
      const { title, description, pluginId } = params;
      pending.question = { title: String(title), description: String(description), pluginId: String(pluginId), params: params.params };
    }
    this.#send({ answer: question });
  }

  #fail(error: CreelError): void {
    if (this.#failure) return;
    this.#failure = error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
    this.#socket.destroy();
  }
}

function garbage(detail: string): CreelError {
  return new CreelError("ERR_SERVE_FRAME", { detail });
}

/** The host's own words. Its error may be newer than this client's table. */
function said(error: unknown): CreelError {
  const message = isBag(error) && typeof error.message === "string" ? error.message : "an error without a message";
  return new CreelError("ERR_SERVE_FAILED", { detail: message });
}
