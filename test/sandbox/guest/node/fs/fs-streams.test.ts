/** Streams of files. Node's own are the oracle: the same steps on a folder of the machine and on a plugin's volume. */
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { sharedHost } from "../../../../support/host.ts";

/** `events`: all that a stream tells, until it is closed. `base` is an empty folder. */
const RUN = `
const fs = require("fs"), promises = require("fs/promises"), { Buffer } = require("buffer"), { pipeline } = require("stream/promises");
const { Transform } = require("stream"), { createGzip, createGunzip } = require("zlib"), { createInterface } = require("readline");
const events = (stream) => new Promise((resolve) => {
  const said = [];
  for (const name of ["open", "ready", "end", "finish", "error"]) stream.on(name, (value) => said.push(value instanceof Error ? [name, value.code, value.syscall] : name));
  stream.on("close", () => resolve([...said, "close", stream.bytesRead ?? stream.bytesWritten, stream.pending, stream.fd, stream.destroyed]));
});
const text = async (stream) => { const parts = []; for await (const part of stream) parts.push(part); return parts.map(String).join("|"); };
const both = async (stream, work) => { const told = events(stream); const done = await work(stream); return [done === stream ? 1 : done, await told]; };
const attempt = (work) => { try { return String(work()); } catch (error) { return [error.name, error.code, error.message]; } };
function Old(...args) { return this instanceof Old ? (fs.ReadStream.apply(this, args), this) : Reflect.construct(Old, args); }
Old.prototype = Object.create(fs.ReadStream.prototype);
Old.prototype.open = function () { fs.open(this.path, this.flags, this.mode, (error, fd) => { if (error) { if (this.autoClose) this.destroy(); this.emit("error", error); } else { this.fd = fd; this.emit("open", fd); this.read(); } }); };
async function tell(base, step) {
  const hangs = new Promise((resolve) => setTimeout(resolve, 1_500, "hangs").unref());
  try { return JSON.parse(JSON.stringify(await Promise.race([step(base), hangs])).replaceAll(base, "BASE")); }
  catch (error) { return { name: error.name, code: error.code, syscall: error.syscall, message: String(error.message).replaceAll(base, "BASE") }; }
}
`;

const STEPS = `
both(fs.createWriteStream(base + "/a"), (s) => { s.write("h\\u00e9llo "); s.write(Buffer.from("w\\u00f6rld")); s.end("!"); })
fs.readFileSync(base + "/a", "utf8")
both(fs.createReadStream(base + "/a", "utf8"), text)
both(fs.createReadStream(base + "/a"), text)
both(fs.createReadStream(base + "/a", { highWaterMark: 4 }), text)
both(fs.createReadStream(base + "/a", { encoding: "utf8", highWaterMark: 2 }), text)
both(fs.createReadStream(base + "/a", { start: 3, end: 7 }), text)
both(fs.createReadStream(base + "/a", { end: 0 }), text)
both(fs.createReadStream(base + "/a", { start: 100 }), text)
both(fs.createReadStream(base + "/none"), (s) => text(s).catch((error) => error.code))
both(fs.createWriteStream(base + "/no/such"), (s) => s.write("x"))
both(fs.createReadStream(base), (s) => text(s).catch((error) => error.code))
both(fs.createWriteStream(base + "/a", { flags: "a" }), (s) => s.end("more"))
both(fs.createWriteStream(base + "/a", { flags: "r+", start: 1, encoding: "latin1" }), (s) => s.end("\\u00fc"))
fs.readFileSync(base + "/a", "hex")
both(fs.createWriteStream(base + "/a", { flags: "wx" }), (s) => s.end("x"))
both(fs.createWriteStream(base + "/big"), (s) => { for (let i = 0; i < 3000; i++) s.write("line " + i + "\\n"); s.end(); })
fs.statSync(base + "/big").size
both(fs.createReadStream(base + "/big", { highWaterMark: 1000 }), async (s) => { let n = 0, bytes = 0; for await (const part of s) { n++; bytes += part.length; } return [n, bytes]; })
(async () => { let n = 0; for await (const line of createInterface({ input: fs.createReadStream(base + "/big") })) n += line.length; return n; })()
pipeline(fs.createReadStream(base + "/big"), createGzip(), fs.createWriteStream(base + "/big.gz")).then(() => pipeline(fs.createReadStream(base + "/big.gz"), createGunzip(), fs.createWriteStream(base + "/big2"))).then(() => fs.readFileSync(base + "/big").equals(fs.readFileSync(base + "/big2")))
pipeline(fs.createReadStream(base + "/big"), new Transform({ transform(part, _, done) { done(new Error("stop")); } }), fs.createWriteStream(base + "/half"))
both(fs.createReadStream(base + "/big", { autoClose: false }), (s) => { s.on("end", () => s.close()); return s.resume() && 1; })
both(fs.createReadStream(base + "/big"), (s) => new Promise((done) => s.once("data", () => { s.destroy(); done(s.readableFlowing); })))
both(fs.createReadStream(base + "/big", { signal: AbortSignal.abort() }), (s) => text(s).catch((error) => error.name))
new Promise((done) => fs.createWriteStream(base + "/c").close(done)).then(() => fs.existsSync(base + "/c"))
both(fs.createReadStream(null, { fd: fs.openSync(base + "/a"), start: 1, end: 2 }), text)
promises.open(base + "/a").then((fd) => text(fs.createReadStream("", { fd, end: 3 })))
(() => { const fd = fs.openSync(base + "/a"); return both(fs.createReadStream("", { fd }), (s) => s.destroy() && 1).then((said) => [said, attempt(() => fs.closeSync(fd))[1]]); })()
both(new Old(base + "/a"), text)
both(new Old(base + "/none"), (s) => text(s).catch((error) => error.code))
[{ start: -1 }, { start: "1" }, { start: 1.5 }, { end: -1 }, { start: 5, end: 4 }, { fd: "x" }, { encoding: "nonsense" }, 5].map((options) => attempt(() => fs.createReadStream(base + "/a", options))?.[1])
[5, "a\\0b", undefined].map((path) => attempt(() => fs.createWriteStream(path))?.[1])
(() => { const s = fs.createReadStream(base + "/a", { start: 2 }); s.on("error", () => {}); const said = [s.path, s.fd, s.flags, s.mode, s.start, s.end === Infinity, s.pos, s.autoClose, s.pending, s instanceof fs.ReadStream, s instanceof require("stream").Readable, fs.ReadStream(base + "/a") instanceof fs.FileReadStream]; s.destroy(); return said; })()
(() => { const s = fs.WriteStream(base + "/w", { autoClose: false }); return both(s, () => s.close()).then((told) => [told, s.autoClose, s.flags, s instanceof fs.FileWriteStream]); })()
both(fs.createReadStream("/x", { fs: { open: (path, flags, mode, done) => done(null, 7), read: (fd, into, at, length, place, done) => done(null, 0, into), close: (fd, done) => done(null) } }), text)
(() => { const kept = []; return both(fs.createWriteStream("/x", { fs: { open: (path, flags, mode, done) => done(null, 7), write: (fd, from, at, length, place, done) => { kept.push(String(from.subarray(at, at + 2))); done(null, Math.min(2, length), from); }, close: (fd, done) => done(null) } }), (s) => s.end("abcde")).then((told) => [told, kept]); })()
Object.getOwnPropertyNames(fs.ReadStream.prototype).includes("open") && typeof fs.WriteStream.prototype.destroySoon
`
  .trim()
  .split("\n");

const CODE = `${RUN}const steps = [${STEPS.map((step) => `async (base) => (${step})`).join(",\n")}];`;

const FULL = `
const fs = require("fs");
const fate = (stream) => new Promise((resolve) => { stream.on("error", (error) => resolve(error.code)); stream.on("close", () => resolve("closed")); });
module.exports = (api) => api.on("message_sending", async () => {
  const said = {};
  const much = fs.createWriteStream("much");
  const over = fate(much);
  for (let i = 0; i < 32; i++) much.write(Buffer.alloc(4_096, 1));
  said.full = [await over, fs.statSync("much").size <= 65_536];
  fs.rmSync("much");
  fs.writeFileSync("text", "ü".repeat(30_000));
  said.text = await new Promise((resolve) => { let read = ""; fs.createReadStream("text", { encoding: "utf8", highWaterMark: 7 }).on("data", (part) => (read += part)).on("end", () => resolve(read === "ü".repeat(30_000))); });
  const own = fs.createWriteStream("/plugin/x");
  said.own = await fate(own);
  const open = Array.from({ length: 300 }, () => fs.createReadStream("text"));
  const fates = await Promise.all(open.map((one) => new Promise((resolve) => one.on("open", () => resolve("open")).on("error", (error) => resolve(error.code)))));
  said.many = [fates.filter((one) => one === "open").length, fates.filter((one) => one === "EMFILE").length];
  for (const one of open) one.destroy();
  return { content: JSON.stringify(said) };
});`;

const hooks = { cpuMs: 5_000, timeoutMs: 20_000 };
const shared = sharedHost("thread", {
  plugins: [
    {
      id: "volume",
      grants: { fs: true },
      hooks,
      limits: { hostCalls: 10_000 },
      source: `${CODE}
module.exports = (api) => api.on("message_sending", async ({ content }) => {
  const said = [];
  fs.mkdirSync("base");
  for (const step of steps) said.push(await tell("/home/plugin/base", step));
  return { content: JSON.stringify(said) };
});`,
    },
    { id: "full", grants: { fs: { maxBytes: 65_536 } }, hooks, source: FULL },
    {
      id: "none",
      hooks,
      source: `const fs = require("fs"); module.exports = (api) => api.on("message_sending", () => new Promise((resolve) => fs.createWriteStream("x").on("error", (error) => resolve({ content: error.code }))));`,
    },
  ],
});

const made = mkdtempSync(join(tmpdir(), "test-of-creel-"));
afterAll(() => rmSync(made, { recursive: true, force: true }));

async function answerOf(plugin: string): Promise<string> {
  const outcome = await shared.host.run("message_sending", { to: "x", content: "go" }, { channelId: "c" }, { plugin });
  expect(outcome.calls[0]?.error).toBeUndefined();
  return (outcome.result as { content: string }).content;
}

it("they tell and do what Node's do, step by step", async () => {
  // oxlint-disable-next-line typescript/no-implied-eval -- the same text runs in the cell
  const inNode = new Function(
    "require",
    `${CODE} return async (base) => { const said = []; for (const step of steps) said.push(await tell(base, step)); return said; };`,
  )(createRequire(import.meta.url)) as (base: string) => Promise<unknown[]>;
  const expected = JSON.parse(JSON.stringify(await inNode(made))) as unknown[];
  const said = JSON.parse(await answerOf("volume")) as unknown[];
  const differences = STEPS.flatMap((step, at) => {
    const [inCell, outside] = [said[at], expected[at]].map((answer) => JSON.stringify(answer));
    return inCell === outside ? [] : [{ step, inCell, outside }];
  });
  expect(differences).toEqual([]);
  expect(said).toHaveLength(expected.length);
  expect(said).not.toContain("hangs");
});

it("a full volume, the plugin's own files and too many open files are errors of the stream", async () => {
  expect(JSON.parse(await answerOf("full"))).toEqual({ full: ["ENOSPC", true], text: true, own: "EROFS", many: [256, 44] });
});

it("without a volume nothing can be written", async () => {
  expect(await answerOf("none")).toBe("EACCES");
});
