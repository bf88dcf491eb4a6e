/** For `npm run compat`: one server on loopback that answers as the services do which packages are clients of. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Path → JSON, or XML as text. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  "/json": { hello: "world" },
  "/v1/chat/completions": { id: "c", object: "chat.completion", choices: [{ index: 0, message: { role: "assistant", content: "hi" } }] },
  "/anthropic/v1/messages": { id: "m", type: "message", role: "assistant", content: [{ type: "text", text: "hi" }] },
  "/bot/bot1:x/getMe": { ok: true, result: { id: 1, is_bot: true, first_name: "Me", username: "me" } },
  "/api/tags": { models: [{ name: "m" }] },
  "/slack/auth.test": { ok: true, user: "me" },
  "/github/repos/a/b": { name: "b" },
  "/supabase/rest/v1/t": [{ id: 1 }],
  "/s3/": `<?xml version="1.0"?><ListAllMyBucketsResult><Buckets><Bucket><Name>b</Name></Bucket></Buckets></ListAllMyBucketsResult>`,
  "/google/v1beta/models/m:generateContent": { candidates: [{ content: { role: "model", parts: [{ text: "hi" }] } }] },
  "/notion/v1/users/me": { object: "user", id: "u", type: "bot", name: "me" },
  "/collections": { result: { collections: [] }, status: "ok", time: 0 },
  "/pinecone/indexes": { indexes: [] },
  "/mistral/v1/models": { object: "list", data: [] },
  "/upstash/pipeline": [{ result: "v" }],
  "/posthog/batch": { status: "Ok" },
  "/linear": { data: { viewer: { id: "u", name: "me" } } },
  "/hf/v1/completions": { object: "text_completion", model: "m", choices: [{ index: 0, text: "hi" }] },
};

/** What a client of the Model Context Protocol asks first. */
function mcp({ id, method }: { id?: number; method?: string }): unknown {
  if (method === "initialize")
    return {
      jsonrpc: "2.0",
      id,
      result: { protocolVersion: "2025-03-26", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
    };
  return { jsonrpc: "2.0", id, result: { tools: [{ name: "t", inputSchema: { type: "object" } }] } };
}

export async function startServer(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      const { pathname } = new URL(request.url!, "http://127.0.0.1");
      const asked = pathname === "/mcp" && request.method === "POST" ? (JSON.parse(body) as { id?: number; method?: string }) : undefined;
      const path = pathname.length > 1 && !(pathname in ANSWERS) ? pathname.replace(/\/$/, "") : pathname;
      const answer = asked ? mcp(asked) : (ANSWERS[path] ?? (pathname === "/s3" ? ANSWERS["/s3/"] : undefined));
      const status = asked && asked.id === undefined ? 202 : answer === undefined ? (pathname === "/mcp" ? 405 : 404) : 200;
      response.writeHead(status, { "content-type": typeof answer === "string" ? "application/xml" : "application/json" });
      response.end(status === 202 ? "" : typeof answer === "string" ? answer : JSON.stringify(answer ?? { error: "not found" }));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
