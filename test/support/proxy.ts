/** A network on the way that can be made to fail: connections are reset, or their bytes vanish. */
import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** Swallows or cuts what goes through it. */
export class Proxy implements Disposable {
  readonly #server: Server;
  readonly #pairs = new Set<Socket>();
  #isHole = false;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async to(port: number): Promise<Proxy> {
    const server = createServer();
    const proxy = new Proxy(server);
    server.on("connection", (inner) => {
      const outer = connect(port, "127.0.0.1");
      for (const [from, to] of [
        [inner, outer],
        [outer, inner],
      ] as const) {
        proxy.#pairs.add(from);
        // As the client does: the proxy would hold back small messages, 40 ms each.
        from.setNoDelay(true);
        from.on("data", (chunk) => proxy.#isHole || to.write(chunk));
        from.on("error", () => {});
        from.on("close", () => {
          proxy.#pairs.delete(from);
          to.destroy();
        });
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `nats://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Bytes vanish, and connections stay: nobody is told. */
  hole(isHole: boolean): void {
    this.#isHole = isHole;
  }

  /** Connections end at once, and no new one is made. */
  async cut(ms: number): Promise<void> {
    const { port } = this.#server.address() as AddressInfo;
    this.#server.close();
    for (const socket of this.#pairs) socket.resetAndDestroy();
    await sleep(ms);
    await new Promise<void>((resolve) => this.#server.listen(port, "127.0.0.1", resolve));
  }

  [Symbol.dispose](): void {
    this.#server.close();
    for (const socket of this.#pairs) socket.destroy();
  }
}
