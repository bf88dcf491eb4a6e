/**
 * An editor as js-debug sees it: it speaks the Debug Adapter Protocol with a server of its own, over one connection for each session. The
 * first session attaches; for each target that it finds, the server asks for another.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";

const HEAD_END = "\r\n\r\n";

interface Message {
  readonly seq: number;
  readonly type: "request" | "response" | "event";
  readonly command?: string;
  readonly event?: string;
  readonly arguments?: unknown;
  readonly body?: unknown;
  readonly success?: boolean;
  readonly message?: string;
  readonly request_seq?: number;
}

export class DapSession implements Disposable {
  readonly #socket: Socket;
  readonly #answers = new Map<number, PromiseWithResolvers<unknown>>();
  /** Events, and requests of the server's, by name; what nobody has waited for yet. */
  readonly #unread: { readonly name: string; readonly body: unknown }[] = [];
  #wake: () => void = () => {};
  #bytes = Buffer.alloc(0);
  #next = 1;

  static async connect(port: number): Promise<DapSession> {
    const socket = connect({ host: "127.0.0.1", port });
    await once(socket, "connect");
    return new DapSession(socket);
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", () => {});
  }

  /** Rejects with what the server says against it. */
  request<T>(command: string, args: object = {}): Promise<T> {
    const seq = this.#next++;
    const answer = Promise.withResolvers<unknown>();
    this.#answers.set(seq, answer);
    this.#send({ seq, type: "request", command, arguments: args });
    return answer.promise as Promise<T>;
  }

  /** The next event, or request of the server's, of this name; earlier ones of other names are dropped. */
  async next<T>(name: string): Promise<T> {
    for (;;) {
      for (let one = this.#unread.shift(); one; one = this.#unread.shift()) if (one.name === name) return one.body as T;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #send(message: Message): void {
    const text = JSON.stringify(message);
    this.#socket.write(`Content-Length: ${Buffer.byteLength(text)}${HEAD_END}${text}`);
  }

  #read(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    for (;;) {
      const head = this.#bytes.indexOf(HEAD_END);
      if (head < 0) return;
      const start = head + HEAD_END.length;
      const end = start + Number(/Content-Length: (\d+)/i.exec(this.#bytes.toString("utf8", 0, head))![1]);
      if (this.#bytes.length < end) return;
      this.#take(JSON.parse(this.#bytes.toString("utf8", start, end)) as Message);
      this.#bytes = this.#bytes.subarray(end);
    }
  }

  #take({ seq, type, command, event, arguments: args, body, success, message, request_seq: to = 0 }: Message): void {
    if (type === "response") {
      const answer = this.#answers.get(to);
      this.#answers.delete(to);
      if (success) answer?.resolve(body);
      else answer?.reject(new Error(`${command}: ${message} ${JSON.stringify(body)}`));
      return;
    }
    if (type === "request") this.#send({ seq: this.#next++, type: "response", request_seq: seq, command: command!, success: true });
    this.#unread.push(type === "request" ? { name: command!, body: args } : { name: event!, body });
    this.#wake();
  }
}

export class JsDebug implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #port: number;

  /** `path`: its dapDebugServer.js. */
  static async start(path: string): Promise<JsDebug> {
    const child = spawn(process.execPath, [path, "0", "127.0.0.1"], { stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    for (;;) {
      const port = /listening at \S*:(\d+)/.exec(said)?.[1];
      if (port !== undefined) return new JsDebug(child, Number(port));
      await Promise.race([
        once(child.stdout, "data"),
        once(child, "exit").then(() => {
          throw new Error(`js-debug has ended: ${said}`);
        }),
      ]);
    }
  }

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.#port = port;
  }

  /** Does what VS Code does with a configuration of a launch.json, and gives the session of the first target that is found. */
  async attach(configuration: object, configure: (session: DapSession) => Promise<unknown>): Promise<DapSession> {
    // VS Code calls the debugger of type "node" so.
    const parent = await this.#session({ ...configuration, type: "pwa-node" }, async () => {});
    const { configuration: found } = await parent.next<{ readonly configuration: object }>("startDebugging");
    return this.#session(found, configure);
  }

  async #session(configuration: object, configure: (session: DapSession) => Promise<unknown>): Promise<DapSession> {
    const session = await DapSession.connect(this.#port);
    await session.request("initialize", {
      clientID: "vscode",
      adapterID: "pwa-node",
      linesStartAt1: true,
      columnsStartAt1: true,
      pathFormat: "path",
      supportsStartDebuggingRequest: true,
    });
    const attached = session.request("attach", configuration);
    await session.next("initialized");
    await configure(session);
    await session.request("configurationDone");
    await attached;
    return session;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill();
    await ended;
  }
}
