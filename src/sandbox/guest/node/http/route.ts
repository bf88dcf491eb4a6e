/**
 * Inside the isolate: a request on a path that a plugin declared with `api.registerHttpRoute`, in the form in which
 * Node's servers hand it to a handler.
 */
import { Buffer } from "../buffer/buffer-class.ts";
import { IncomingMessage } from "./incoming-message.ts";
import { ServerResponse } from "./server-response.ts";

interface Asked {
  method?: string;
  url?: string;
  headers?: Record<string, string | string[]>;
  body?: string;
  encoding?: string;
  remoteAddress?: string;
}

export async function serve(handler: (request: IncomingMessage, response: ServerResponse) => unknown, asked: Asked): Promise<object> {
  const { method = "GET", url = "/", headers = {}, body = "", encoding, remoteAddress } = asked;
  const socket = { remoteAddress, encrypted: false, destroy(): void {}, setTimeout(): void {}, on: () => socket };
  const request = IncomingMessage.asked(
    { method, url, headers, content: Buffer.from(body, encoding === "base64" ? "base64" : "utf8") },
    socket,
  );
  const response = new ServerResponse(request);
  const ended = new Promise<void>((resolve, reject) => {
    response.once("finish", resolve);
    response.once("error", reject);
    response.once("close", resolve);
  });
  // It is awaited only where the handler has not failed itself.
  ended.catch(() => {});
  const returned = await handler(request, response);
  // In OpenClaw this lets other routes have the request.
  if (returned === false && !response.headersSent && !response.writableEnded) return { handled: false };
  await ended;
  return response.answer();
}
