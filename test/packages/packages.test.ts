/**
 * Popular packages, unmodified, bundled into a plugin: each does something real in its cell. Clients of services are in
 * servers.test.ts, against real servers. What talks to an API over HTTP does so with a server on loopback, under a grant.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Host } from "creel";
import { startServer } from "../../scripts/compat/server.ts";
import { open } from "../support/host.ts";
import { around, missingPackages } from "./packages.ts";

const missing = missingPackages();

interface Use {
  readonly code: string;
  readonly gives: unknown;
}

const USES: Readonly<Record<string, Use>> = {
  axios: {
    code: `import axios from "axios";
      export default async ({ url }) => {
        const { data, status } = await axios.get(url + "/json");
        return [status, data.hello, await axios.post(url + "/absent", { a: 1 }).catch(({ response }) => response.status)];
      };`,
    gives: [200, "world", 404],
  },
  "node-fetch": {
    code: `import fetch, { Headers } from "node-fetch";
      export default async ({ url }) => {
        const response = await fetch(url + "/json", { headers: new Headers({ accept: "*/*" }) });
        return [response.ok, (await response.json()).hello, (await fetch(url + "/absent")).status];
      };`,
    gives: [true, "world", 404],
  },
  got: {
    code: `import got from "got";
      export default async ({ url }) => [(await got(url + "/json").json()).hello, await got(url + "/absent", { retry: { limit: 0 } }).catch(({ response }) => response.statusCode)];`,
    gives: ["world", 404],
  },
  undici: {
    code: `import { fetch, request } from "undici";
      export default async ({ url }) => [(await (await fetch(url + "/json")).json()).hello, (await (await request(url + "/json")).body.json()).hello];`,
    gives: ["world", "world"],
  },
  openai: {
    code: `import OpenAI from "openai";
      export default async ({ url }) => {
        const client = new OpenAI({ apiKey: "x", baseURL: url + "/v1", maxRetries: 0 });
        const { choices } = await client.chat.completions.create({ model: "m", messages: [] });
        return [choices[0].message.content, await client.models.list().catch((error) => error.status)];
      };`,
    gives: ["hi", 404],
  },
  "@anthropic-ai/sdk": {
    code: `import Anthropic from "@anthropic-ai/sdk";
      export default async ({ url }) => {
        const client = new Anthropic({ apiKey: "x", baseURL: url + "/anthropic", maxRetries: 0 });
        const { content } = await client.messages.create({ model: "m", max_tokens: 1, messages: [{ role: "user", content: "x" }] });
        return content[0].text;
      };`,
    gives: "hi",
  },
  "@modelcontextprotocol/sdk": {
    code: `import { Client } from "@modelcontextprotocol/sdk/client/index.js";
      import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
      export default async ({ url }) => {
        const client = new Client({ name: "c", version: "1" });
        await client.connect(new StreamableHTTPClientTransport(new URL(url + "/mcp")));
        const { tools } = await client.listTools();
        await client.close();
        return tools[0].name;
      };`,
    gives: "t",
  },
  winston: {
    code: `import winston from "winston";
      import { Writable } from "node:stream";
      export default async () => {
        const lines = [];
        const stream = new Writable({ write(chunk, _, next) { lines.push(JSON.parse(String(chunk))); next(); } });
        const { combine, timestamp, json } = winston.format;
        const logger = winston.createLogger({ level: "info", format: combine(timestamp(), json()), transports: [new winston.transports.Stream({ stream })] });
        logger.debug("no");
        logger.child({ part: "p" }).warn("yes", { n: 1 });
        await new Promise((done) => { logger.on("finish", done); logger.end(); });
        return lines.map(({ level, message, part, n, timestamp: at }) => [level, message, part, n, typeof at]);
      };`,
    gives: [["warn", "yes", "p", 1, "string"]],
  },
  pino: {
    code: `import pino from "pino";
      export default () => {
        const lines = [];
        const log = pino({ level: "info", redact: ["token"] }, { write: (line) => lines.push(JSON.parse(line)) });
        log.debug("no");
        log.child({ part: "p" }).error({ token: "t", err: new Error("bad") }, "yes");
        return lines.map(({ level, msg, part, token, err }) => [level, msg, part, token, err.message]);
      };`,
    gives: [[50, "yes", "p", "[Redacted]", "bad"]],
  },
  jsonwebtoken: {
    code: `import jwt from "jsonwebtoken";
      export default () => {
        const token = jwt.sign({ a: 1 }, "key", { expiresIn: "1h", subject: "me" });
        const { a, sub } = jwt.verify(token, "key");
        const said = (key, given = token) => { try { jwt.verify(given, key); } catch (error) { return error.message; } };
        return [a, sub, said("other"), said("key", jwt.sign({ exp: 1 }, "key"))];
      };`,
    gives: [1, "me", "invalid signature", "jwt expired"],
  },
  "form-data": {
    code: `import FormData from "form-data";
      export default async () => {
        const form = new FormData();
        form.append("a", "ü");
        form.append("file", Buffer.from("content"), { filename: "a.txt", contentType: "text/plain" });
        const parts = String(form.getBuffer()).split(form.getBoundary());
        return [parts.length, parts[2].includes('filename="a.txt"'), parts[2].includes("content"), form.getLengthSync() === form.getBuffer().length];
      };`,
    gives: [4, true, true, true],
  },
  commander: {
    code: `import { Command } from "commander";
      export default async () => {
        const done = [];
        const program = new Command().exitOverride().configureOutput({ writeErr: (text) => done.push(text.trim()) });
        program.command("add <name>").option("-n, --number <n>", "how many", Number, 1).action((name, { number }) => done.push([name, number]));
        await program.parseAsync(["add", "x", "-n", "3"], { from: "user" });
        await program.parseAsync(["add"], { from: "user" }).catch(({ code }) => done.push(code));
        return done;
      };`,
    gives: [["x", 3], "error: missing required argument 'name'", "commander.missingArgument"],
  },
  debug: {
    code: `import debug from "debug";
      import { format } from "node:util";
      export default () => {
        const lines = [];
        debug.log = (...parts) => lines.push(format(...parts));
        debug.enable("app:*,-app:quiet");
        debug("app:loud")("said %d", 5);
        debug("app:quiet")("not said");
        return [lines.length, lines[0].includes("app:loud"), lines[0].includes("said 5"), debug.enabled("app:quiet")];
      };`,
    gives: [1, true, true, false],
  },
  "csv-parse": {
    code: `import { parse } from "csv-parse";
      import { parse as parseNow } from "csv-parse/sync";
      import { Readable } from "node:stream";
      export default async () => {
        const rows = [];
        for await (const row of Readable.from(['a,b\\n1,"x', '\\ny"\\n2,z\\n']).pipe(parse({ columns: true, cast: true }))) rows.push(row);
        let refused;
        try { parseNow("a,b\\n1"); } catch (error) { refused = error.code; }
        return [rows, refused];
      };`,
    gives: [
      [
        { a: 1, b: "x\ny" },
        { a: 2, b: "z" },
      ],
      "CSV_RECORD_INCONSISTENT_FIELDS_LENGTH",
    ],
  },
  "fast-glob": {
    code: `import glob from "fast-glob";
      import { mkdirSync, writeFileSync } from "node:fs";
      export default async () => {
        mkdirSync("/home/plugin/g/in/.hidden", { recursive: true });
        for (const name of ["a.txt", "b.js", "in/c.txt", "in/.hidden/d.txt"]) writeFileSync("/home/plugin/g/" + name, "x");
        return [(await glob("**/*.txt", { cwd: "/home/plugin/g" })).sort(), glob.sync(["**", "!**/*.txt"], { cwd: "/home/plugin/g", dot: true })];
      };`,
    gives: [["a.txt", "in/c.txt"], ["b.js"]],
  },
};

describe.skipIf(missing !== undefined)("popular packages", () => {
  let host: Host;
  let server: Awaited<ReturnType<typeof startServer>>;

  beforeAll(async () => {
    server = await startServer();
    host = await open("process", {
      plugins: Object.entries(USES).map(([name, { code }]) =>
        around(name.replace(/^@/, "").replace("/", "-"), code, {
          grants: { fetch: [server.url], connect: [new URL(server.url).host], fs: true },
        }),
      ),
    });
  }, 300_000);
  afterAll(async () => {
    await host?.close();
    server?.close();
  });

  it.for(Object.keys(USES))("%s does what it is for", { timeout: 60_000 }, async (name) => {
    const { value, error } = await host.call({ tool: name.replace(/^@/, "").replace("/", "-") }, { url: server.url });
    expect(error).toBeUndefined();
    expect(value).toEqual({ value: USES[name]!.gives });
  });
});
