/** The gateway: a page, a chat, tools, approvals. `npm start`, then open the address that it prints. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { openHost } from "creel";
import Fastify from "fastify";
import { Agent } from "./agent.ts";
import { Approvals } from "./approvals.ts";
import { Feed } from "./feed.ts";

const here = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
const feed = new Feed();
const approvals = new Approvals(feed);
const host = await openHost({
  plugins: [{ path: here("plugins/command-guard") }, { path: here("plugins/endless-loop") }],
  gateway: { requestApproval: (question, { signal }) => approvals.ask(question, signal) },
});
const agent = new Agent(host, feed);

// What the sandbox does to plugins, for the page.
host.on("replaced", ({ plugin, why }) => feed.say({ kind: "stopped", text: `${plugin} was stopped: ${why}` }));
host.on("quarantine", ({ plugin, state }) => feed.say({ kind: "stopped", text: `${plugin} is in quarantine: ${state}` }));

const app = Fastify();
app.get("/", async (_request, reply) => reply.type("text/html; charset=utf-8").send(await readFile(here("public/index.html"))));
app.get("/page.js", async (_request, reply) => reply.type("text/javascript").send(await readFile(here("public/page.js"))));
app.post<{ Body: { text: string } }>("/messages", async ({ body }) => {
  await agent.hear(body.text);
  return { heard: true };
});
app.post<{ Params: { id: string }; Body: { allow: boolean } }>("/approvals/:id", async ({ params, body }) => ({
  answered: approvals.answer(params.id, body.allow),
}));
app.get("/plugins", async () => host.plugins().map(({ id, status }) => ({ id, status })));
app.get("/events", (request, reply) => {
  reply.hijack();
  reply.raw.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  const stop = feed.follow((line) => reply.raw.write(`data: ${JSON.stringify(line)}\n\n`));
  request.raw.on("close", stop);
});

const address = await app.listen({ host: "127.0.0.1", port: Number(process.env.PORT ?? 8080) });
console.log(`open ${address}`);

for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    app.server.closeAllConnections();
    void Promise.all([app.close(), host.close()]);
  });
