/** Real HTTP servers on loopback for tests: each remembers what it was asked. */
import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface TestServer extends AsyncDisposable {
  readonly port: number;
  /** By its address; `http://localhost:<port>` reaches it too. */
  readonly origin: string;
  /** Every request, in the order of arrival. */
  readonly asked: Asked[];
  close(): Promise<void>;
}

export type Answerer = (asked: Asked, response: ServerResponse, request: IncomingMessage) => unknown;

export async function serve(answer: Answerer, host = "127.0.0.1"): Promise<TestServer> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const one = { method: request.method!, url: request.url!, headers: request.headers, body: Buffer.concat(chunks) };
      asked.push(one);
      void answer(one, response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { port, origin: `http://${host}:${port}`, asked, close, [Symbol.asyncDispose]: close };
}

/** Tells what it was asked, as JSON. */
export const echo: Answerer = ({ method, url, headers, body }, response) =>
  response
    .writeHead(200, { "content-type": "application/json" })
    .end(JSON.stringify({ method, url, headers, body: body.toString("latin1") }));
