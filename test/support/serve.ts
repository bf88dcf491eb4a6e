/** A `creel serve` in this process, and a client that knows nothing but sockets and JSON: what a client in another language has. */
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { SERVE_PROTOCOL } from "../../src/protocol/serve.ts";
import { serve } from "../../src/serve/server.ts";
import type { Served, ServeOptions } from "../../src/serve/server.ts";
import { folder } from "./files.ts";
import { silent } from "./host.ts";

/** A path in a folder that only we may enter. */
export function socketPath(): string {
  return join(folder({}), "s.sock");
}

export function served(options: Partial<ServeOptions> = {}): Promise<Served> {
  const config = { sandbox: { spare: false, walls: "none" } } as const;
  return serve({ socket: socketPath(), isolation: "thread", lanes: 1, logger: silent, config, ...options });
}

export type Frame = Record<string, unknown>;

export class RawClient implements Disposable {
  readonly socket: Socket;
  readonly #path: string;
  readonly #lines: AsyncIterator<string>;

  constructor(path: string) {
    this.#path = path;
    this.socket = connect(path);
    this.socket.on("error", () => {});
    this.#lines = createInterface({ input: this.socket })[Symbol.asyncIterator]();
  }

  static async welcome(path: string, more: object = {}): Promise<RawClient> {
    const client = new RawClient(path);
    client.say({ hello: { protocol: SERVE_PROTOCOL, token: client.token, ...more } });
    await client.next("welcome");
    return client;
  }

  get token(): string {
    return (JSON.parse(readFileSync(`${this.#path}.json`, "utf8")) as { token: string }).token;
  }

  say(frame: object): void {
    this.socket.write(`${JSON.stringify(frame)}\n`);
  }

  /** The next frame; undefined: it was hung up on. */
  async any(): Promise<Frame | undefined> {
    const { value: line, done } = await this.#lines.next();
    return done ? undefined : (JSON.parse(line) as Frame);
  }

  /** The next frame with this key; undefined: it was hung up on. */
  async next(key: string, value?: unknown): Promise<Frame | undefined> {
    for (;;) {
      const frame = await this.any();
      if (frame === undefined) return undefined;
      if (key in frame && (value === undefined || frame[key] === value)) return frame;
    }
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}
