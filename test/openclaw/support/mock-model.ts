/** A model on the loopback interface: `use-tool:<name> args={…}` in the user's text makes one tool call; otherwise it echoes the text. */
import { createServer } from "node:http";
import type { Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface MockModel {
  readonly port: number;
  readonly server: Server;
  /** Everything that models were sent, as text. */
  readonly requests: string[];
}

interface Message {
  readonly role: string;
  readonly content?: unknown;
}

export async function startModel(): Promise<MockModel> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      requests.push(body);
      const { messages = [] } = JSON.parse(body || "{}") as { messages?: Message[] };
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const delta of answer(messages)) response.write(`data: ${JSON.stringify(delta)}\n\n`);
      response.end("data: [DONE]\n\n");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, server, requests };
}

function answer(messages: readonly Message[]): object[] {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const recent = messages.slice(last + 1);
  const said = recent.filter(({ role }) => role === "user").map(({ content }) => textOf(content));
  const result = recent.filter(({ role }) => role === "tool").map(({ content }) => textOf(content));
  const wish = result.length > 0 ? undefined : said.map((one) => /use-tool:(\S+) args=(\{.*?\})(?=\s|$)/.exec(one)).find(Boolean);
  const base = { id: "c1", object: "chat.completion.chunk", created: 1, model: "mock-1" };
  const chunk = (delta: object, finish: string | null) => ({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] });
  const usage = { ...base, choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } };
  if (wish) {
    const call = { index: 0, id: `call_${Date.now()}`, type: "function", function: { name: wish[1], arguments: wish[2] } };
    return [chunk({ role: "assistant", tool_calls: [call] }, null), chunk({}, "tool_calls"), usage];
  }
  const reply = result.length > 0 ? `the tool said: ${result.join(" ")}` : `echo: ${said.join(" ").slice(0, 500)}`;
  return [chunk({ role: "assistant", content: reply }, null), chunk({}, "stop"), usage];
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? "").join(" ") : "";
}
