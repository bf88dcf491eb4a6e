/** Packages that plugins use, bundled from node_modules by the real bundler, each for something real. */
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { sharedHost } from "../../support/host.ts";
import { serve } from "../../support/server.ts";

const server = await serve(({ method, url, body }, response) => {
  if (url === "/moved") return response.writeHead(302, { location: "/after" }).end();
  if (url === "/packed") return response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync('{"packed":true}'));
  return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify([method, url, String(body)]));
});
afterAll(() => server.close());

/** Name → a module whose `run` gives what is compared, and what that is. */
const PACKAGES: Record<string, { readonly source: string; readonly gives: unknown }> = {
  zod: {
    source: `import * as z from "zod";
      const schema = z.object({ name: z.string().min(2), at: z.iso.datetime(), tags: z.array(z.enum(["a", "b"])).default([]), n: z.coerce.number().int() });
      export const run = () => [schema.parse({ name: "ok", at: "2026-01-01T00:00:00Z", n: "5" }), schema.safeParse({ name: "x", at: "no", n: 1.5 }).error.issues.map((i) => [i.path.join("."), i.code])];`,
    gives: [
      { name: "ok", at: "2026-01-01T00:00:00Z", tags: [], n: 5 },
      [
        ["name", "too_small"],
        ["at", "invalid_format"],
        ["n", "invalid_type"],
      ],
    ],
  },
  // It writes code and compiles it with Function: inside an isolate that gives nothing that the plugin's own code has not.
  ajv: {
    source: `import { Ajv } from "ajv";
      const validate = new Ajv({ allErrors: true }).compile({ type: "object", properties: { a: { type: "integer", minimum: 3 }, b: { type: "string", pattern: "^x" } }, required: ["a"], additionalProperties: false });
      export const run = () => [validate({ a: 5, b: "xy" }), validate({ a: 1, b: "y", c: 0 }), validate.errors.map((e) => e.keyword).sort()];`,
    gives: [true, false, ["additionalProperties", "minimum", "pattern"]],
  },
  minimatch: {
    source: `import { minimatch, Minimatch } from "minimatch";
      export const run = () => [minimatch("src/a/b.ts", "src/**/*.{ts,js}"), minimatch(".env", "*"), minimatch("/etc/passwd", "!/home/**"), minimatch.match(["a.js", "b.ts"], "*.ts"), new Minimatch("a/[bc]?").match("a/bz")];`,
    gives: [true, false, true, ["b.ts"], true],
  },
  semver: {
    source: `import semver from "semver";
      export const run = () => [semver.satisfies("1.2.3", "^1.0.0 || >=3"), semver.inc("1.2.3", "prerelease", "beta"), semver.sort(["2.0.0", "1.10.0", "1.9.0-rc.1"]), semver.valid("v1"), semver.coerce("v2.5-x").version];`,
    gives: [true, "1.2.4-beta.0", ["1.9.0-rc.1", "1.10.0", "2.0.0"], null, "2.5.0"],
  },
  "js-yaml": {
    source: `import { load, dump } from "js-yaml";
      export const run = () => { const doc = load("rules:\\n  - deny: &p 'rm *'\\n    since: 2026-01-01\\n  - deny: *p\\nn: 0x1f\\n"); return [doc.rules[1].deny, doc.n, dump({ a: [1, { b: "x: y" }] })]; };`,
    gives: ["rm *", 31, "a:\n  - 1\n  - b: 'x: y'\n"],
  },
  "date-fns": {
    source: `import { addBusinessDays, differenceInCalendarDays, format, formatDistanceStrict, parseISO } from "date-fns";
      export const run = () => [format(addBusinessDays(new Date(2026, 0, 2), 3), "yyyy-MM-dd EEEE"), differenceInCalendarDays(parseISO("2026-03-01"), parseISO("2026-02-01")), formatDistanceStrict(0, 90_000)];`,
    gives: ["2026-01-07 Wednesday", 28, "2 minutes"],
  },
  "libphonenumber-js": {
    source: `import { findPhoneNumbersInText, parsePhoneNumberFromString } from "libphonenumber-js";
      export const run = () => { const n = parsePhoneNumberFromString("030 901820", "DE"); return [n.number, n.isValid(), n.formatInternational(), findPhoneNumbersInText("call +1 213 373 4253 now", "US").map((f) => f.number.number)]; };`,
    gives: ["+4930901820", true, "+49 30 901820", ["+12133734253"]],
  },
  "lodash-es": {
    source: `import { camelCase, cloneDeep, debounce, groupBy, merge, template } from "lodash-es";
      export const run = async () => { let calls = 0; const once = debounce(() => { calls += 1; }, 1); once(); once(); await new Promise((r) => setTimeout(r, 30)); return [camelCase("Foo bar-baz"), groupBy([1.2, 1.8, 2.1], Math.floor), merge({ a: { b: 1 } }, { a: { c: 2 } }), cloneDeep(new Map([[1, { x: [2] }]])).get(1), calls, template("hi <%= name %>")({ name: "you" })]; };`,
    gives: ["fooBarBaz", { "1": [1.2, 1.8], "2": [2.1] }, { a: { b: 1, c: 2 } }, { x: [2] }, 1, "hi you"],
  },
  nanoid: {
    source: `import { customAlphabet, nanoid } from "nanoid";
      export const run = () => { const ids = new Set(Array.from({ length: 200 }, () => nanoid())); return [ids.size, [...ids].every((id) => /^[\\w-]{21}$/.test(id)), /^[01]{40}$/.test(customAlphabet("01", 40)())]; };`,
    gives: [200, true, true],
  },
  jose: {
    source: `import { createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify, SignJWT, EncryptJWT, jwtDecrypt } from "jose";
      export const run = async () => {
        const secret = new TextEncoder().encode("a secret that is long enough for it");
        const plain = await new SignJWT({ role: "guard" }).setProtectedHeader({ alg: "HS256" }).setIssuer("me").setExpirationTime("1h").sign(secret);
        const first = await jwtVerify(plain, secret, { issuer: "me" });
        const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
        const signed = await new SignJWT({ n: 1 }).setProtectedHeader({ alg: "ES256", kid: "k" }).sign(privateKey);
        const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), kid: "k", alg: "ES256" }] });
        const second = await jwtVerify(signed, keys);
        const forged = await jwtVerify(signed.slice(0, -4) + "AAAA", keys).catch((error) => error.code);
        const key = crypto.getRandomValues(new Uint8Array(32));
        const sealed = await new EncryptJWT({ s: "x" }).setProtectedHeader({ alg: "dir", enc: "A256GCM" }).encrypt(key);
        return [first.payload.role, second.payload.n, second.protectedHeader.kid, forged, (await jwtDecrypt(sealed, key)).payload.s];
      };`,
    gives: ["guard", 1, "k", "ERR_JWS_SIGNATURE_VERIFICATION_FAILED", "x"],
  },
  handlebars: {
    source: `import Handlebars from "handlebars";
      Handlebars.registerHelper("loud", (text) => text.toUpperCase());
      const render = Handlebars.compile("{{#each items}}{{@index}}:{{loud name}} {{#if ok}}<b>{{html}}</b>{{/if}};{{/each}}");
      export const run = () => render({ items: [{ name: "a", ok: true, html: "<i>" }, { name: "b" }] });`,
    gives: "0:A <b>&lt;i&gt;</b>;1:B ;",
  },
  axios: {
    source: `import axios from "axios";
      export const run = async () => {
        const client = axios.create({ baseURL: ${JSON.stringify(server.origin)} });
        const lines = await client.get("/stream", { responseType: "stream" });
        let streamed = "";
        for await (const chunk of lines.data) streamed += Buffer.from(chunk);
        return [(await client.get("/moved")).data, (await client.post("/x", { a: 1 })).data, (await client.get("/packed")).data, streamed];
      };`,
    gives: [["GET", "/after", ""], ["POST", "/x", '{"a":1}'], { packed: true }, '["GET","/stream",""]'],
  },
  winston: {
    source: `import winston from "winston"; import { Writable } from "node:stream";
      export const run = () => new Promise((resolve) => {
        const lines = [];
        const stream = new Writable({ write(chunk, _, done) { lines.push(String(chunk).trim()); done(); } });
        const logger = winston.createLogger({ level: "info", format: winston.format.json(), defaultMeta: { by: "p" }, transports: [new winston.transports.Stream({ stream })] });
        logger.info("hello", { a: 1 });
        logger.debug("not this");
        logger.child({ id: 2 }).error("bad");
        stream.on("finish", () => resolve(lines.map((line) => JSON.parse(line))));
        logger.end(() => stream.end());
      });`,
    gives: [
      { a: 1, by: "p", level: "info", message: "hello" },
      { by: "p", id: 2, level: "error", message: "bad" },
    ],
  },
  "csv-parse": {
    source: `import { parse } from "csv-parse"; import { parse as parseSync } from "csv-parse/sync"; import { Readable } from "node:stream"; import { createGzip, createGunzip } from "node:zlib";
      export const run = async () => {
        const rows = [];
        const file = Readable.from(["a,b\\n1,", '"x,\\ny"\\n']).pipe(createGzip()).pipe(createGunzip());
        for await (const row of file.pipe(parse({ columns: true }))) rows.push(row);
        return [rows, parseSync("q;r\\n", { delimiter: ";" })];
      };`,
    gives: [[{ a: "1", b: "x,\ny" }], [["q", "r"]]],
  },
  jsonwebtoken: {
    source: `import jwt from "jsonwebtoken";
      export const run = () => {
        const token = jwt.sign({ role: "guard" }, "secret", { expiresIn: "1h", issuer: "me" });
        const attempt = (...args) => { try { return jwt.verify(...args).role; } catch (error) { return error.message; } };
        return [attempt(token, "secret", { issuer: "me" }), attempt(token, "other"), attempt(token, "secret", { issuer: "you" }), attempt("x.y.z", "secret")];
      };`,
    gives: ["guard", "invalid signature", "jwt issuer invalid. expected: you", "invalid token"],
  },
  // Its build for Node wants undici, and that wants sockets: the one for browsers is taken.
  cheerio: {
    source: `import { load } from "cheerio";
      export const run = () => { const $ = load("<ul><li class='a'>x</li><li>y <a href='/z'>z</a></li></ul>"); $("li").last().addClass("b"); return [$("li").map((_, li) => $(li).text()).get(), $("a").attr("href"), $("li.b").html()]; };`,
    gives: [["x", "y z"], "/z", 'y <a href="/z">z</a>'],
  },
};

describe("packages", () => {
  // What is inside a cell does not depend on where the lane is; crypto.subtle, which jose uses, is the lane's.
  const shared = sharedHost("process", {
    plugins: Object.entries(PACKAGES).map(([id, { source }]) => ({
      id,
      source: `${source}
        export default (api) => api.on("message_sending", async (event) => (event.content === ${JSON.stringify(id)} ? { content: JSON.stringify(await run()) } : undefined));`,
      hooks: { cpuMs: 2_000, timeoutMs: 15_000 },
      grants: { fetch: [server.origin] },
    })),
  });

  it.each(Object.keys(PACKAGES))("%s works inside a cell", async (id) => {
    expect(shared.host.inspect(id).error).toBeUndefined();
    const { result, calls } = await shared.host.run("message_sending", { to: "x", content: id }, { channelId: "chat" });
    expect(calls.find(({ plugin }) => plugin === id)?.error?.message).toBeUndefined();
    expect(JSON.parse(result!.content!)).toEqual(PACKAGES[id]!.gives);
  });
});
