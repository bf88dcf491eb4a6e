/** Node's own `fs` as the oracle: the same steps on a folder of the machine and on a plugin's volume, with their answers compared. */
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { sharedHost } from "../../../../support/host.ts";

/** What both sides run for every step. `base` is a folder that is empty before the first of them. */
const RUN = `
const fs = require("fs"), promises = require("fs/promises"), { Buffer } = require("buffer");
function plain(value) {
  if (typeof value === "bigint") return value + "n";
  if (value instanceof Uint8Array) return (Buffer.isBuffer(value) ? "Buffer " : "bytes ") + Array.from(value).join();
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Date) return "Date";
  if (typeof value === "object" && value !== null) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
  return value === undefined ? "undefined" : value;
}
async function tell(base, step) {
  const said = (text) => text === undefined ? undefined : String(text).replaceAll(base, "BASE");
  try { return JSON.parse(said(JSON.stringify(plain(await step(base))))); }
  catch (error) { return { name: error.name, code: error.code, errno: error.errno, syscall: error.syscall, path: said(error.path), dest: said(error.dest), message: error.syscall ? said(error.message) : undefined }; }
}
`;

const kinds = "(entry) => [entry.name, entry.isFile(), entry.isDirectory(), entry.isSymbolicLink()]";
/** One after the other, on the same files. */
const STEPS = `
fs.readdirSync(base)
fs.readFileSync(base + "/none")
fs.readFileSync(base + "/none", "utf8")
fs.readFileSync(base)
fs.existsSync(base + "/none")
fs.writeFileSync(base + "/a.txt", "h\\u00e9llo \\u{1f600}")
fs.readFileSync(base + "/a.txt")
fs.readFileSync(base + "/a.txt", "utf8")
fs.readFileSync(base + "/a.txt", { encoding: "base64" })
fs.readFileSync(base + "/a.txt", "hex")
fs.readFileSync(base + "/a.txt", "latin1")
fs.readFileSync(base + "/a.txt", "nonsense")
fs.readFileSync(base + "/a.txt/", "utf8")
fs.readFileSync(base + "/a.txt/b", "utf8")
fs.readFileSync(base + "/./a.txt", "utf8")
fs.readFileSync(base + "/none/../a.txt", "utf8")
fs.readFileSync(base + "//a.txt", "utf8")
fs.writeFileSync(base + "/half", "\\ud800x")
fs.readFileSync(base + "/half")
fs.writeFileSync(base + "/bom", "\\ufeffx")
fs.readFileSync(base + "/bom", "utf8")
fs.writeFileSync(base + "/bytes", new Uint8Array([0, 255, 128]))
fs.readFileSync(base + "/bytes", "utf8")
fs.appendFileSync(base + "/bytes", "z")
fs.appendFileSync(base + "/bytes", Buffer.from([254]))
fs.readFileSync(base + "/bytes")
fs.appendFileSync(base + "/new", "1\\n")
fs.appendFileSync(base + "/new", "2\\n")
fs.readFileSync(base + "/new", "utf8")
fs.writeFileSync(base + "/new", "x", { flag: "wx" })
fs.writeFileSync(base + "/new", "X", { flag: "r+" })
fs.readFileSync(base + "/new", "utf8")
fs.writeFileSync(base + "/new", "666f6f", "hex")
fs.readFileSync(base + "/new", { encoding: "utf8", flag: "r" })
fs.writeFileSync(base + "/new", 5)
fs.writeFileSync(base + "/new", "x", { flag: "nonsense" })
fs.writeFileSync(base + "/no/such", "x")
fs.writeFileSync(base, "x")
fs.writeFileSync(base + "/a\\0b", "x")
fs.readFileSync({})
fs.mkdirSync(base + "/d")
fs.mkdirSync(base + "/d")
fs.mkdirSync(base + "/x/y/z")
fs.mkdirSync(base + "/x/y/z", { recursive: true })
fs.mkdirSync(base + "/x/y/z", { recursive: true })
fs.mkdirSync(base + "/a.txt", { recursive: true })
fs.mkdirSync(base + "/a.txt/b", { recursive: true })
fs.mkdirSync(base + "/a.txt/b")
fs.writeFileSync(base + "/x/y/f", "deep")
fs.writeFileSync(base + "/x/0", "")
fs.writeFileSync(base + "/x/\\u{1f600}", "")
fs.writeFileSync(base + "/x/\\uffee", "")
fs.writeFileSync(base + "/x/__proto__", "p")
fs.writeFileSync(base + "/x/constructor", "c")
fs.writeFileSync(base + "/x/e\\u0301", "decomposed")
fs.existsSync(base + "/x/\\u00e9")
fs.readdirSync(base + "/x")
fs.readdirSync(base + "/x", "buffer")
fs.readdirSync(base, { recursive: true })
fs.readdirSync(base, { withFileTypes: true }).map(${kinds})
fs.readdirSync(base, { withFileTypes: true, recursive: true }).map((entry) => entry.parentPath + " " + entry.name)
fs.readdirSync(base + "/a.txt")
fs.readdirSync(base + "/none")
fs.statSync(base + "/none")
fs.statSync(base + "/none", { throwIfNoEntry: false })
[fs.statSync(base + "/a.txt").size, fs.statSync(base + "/a.txt").isFile(), fs.lstatSync(base + "/d").isDirectory(), fs.statSync(base + "/a.txt", { bigint: true }).size]
Object.keys(fs.statSync(base + "/a.txt")).sort()
typeof fs.statSync(base + "/a.txt", { bigint: true }).mtimeNs
fs.utimesSync(base + "/a.txt", 1000, new Date(2_000_000))
[fs.statSync(base + "/a.txt").atimeMs, fs.statSync(base + "/a.txt").mtimeMs, fs.statSync(base + "/a.txt").mtime instanceof Date]
fs.chmodSync(base + "/a.txt", 0o600)
fs.statSync(base + "/a.txt").mode
fs.chmodSync(base + "/none", 0o600)
fs.accessSync(base + "/a.txt", fs.constants.R_OK | fs.constants.W_OK)
fs.accessSync(base + "/none")
fs.renameSync(base + "/new", base + "/renamed")
fs.existsSync(base + "/new")
fs.renameSync(base + "/new", base + "/renamed")
fs.renameSync(base + "/a.txt", base + "/renamed")
fs.readFileSync(base + "/renamed", "utf8")
fs.renameSync(base + "/renamed", base + "/d")
fs.renameSync(base + "/d", base + "/renamed")
fs.renameSync(base + "/x", base + "/x/y/into")
fs.renameSync(base + "/d", base + "/x/y")
fs.renameSync(base + "/x/y", base + "/d")
fs.readdirSync(base + "/d")
fs.renameSync(base + "/renamed", base + "/renamed")
fs.renameSync(base + "/none/a", base + "/b")
fs.renameSync(base + "/renamed", base + "/none/b")
fs.copyFileSync(base + "/renamed", base + "/copy")
fs.copyFileSync(base + "/renamed", base + "/copy", fs.constants.COPYFILE_EXCL)
fs.copyFileSync(base + "/none", base + "/copy")
fs.readFileSync(base + "/copy", "utf8")
fs.cpSync(base + "/d", base + "/d2", { recursive: true })
fs.readdirSync(base + "/d2", { recursive: true })
fs.unlinkSync(base + "/copy")
fs.unlinkSync(base + "/copy")
fs.unlinkSync(base + "/d")
fs.rmdirSync(base + "/d")
fs.rmdirSync(base + "/renamed")
fs.rmdirSync(base + "/none")
fs.rmSync(base + "/none", { force: true })
fs.rmSync(base + "/none", { force: true, recursive: true })
fs.rmSync(base + "/d2", { recursive: true })
fs.existsSync(base + "/d2/f")
fs.truncateSync(base + "/bytes", 2)
fs.truncateSync(base + "/bytes", 4)
fs.readFileSync(base + "/bytes")
fs.realpathSync(base + "/d/../bytes")
fs.realpathSync(base + "/none")
fs.mkdtempSync(base + "/t-").length - base.length
fs.readFileSync(Buffer.from(base + "/bytes"))
fs.readFileSync(new URL("file://" + base + "/bytes"))
fs.readFileSync(new URL("http://x/y"))
fs.readFileSync(base + "/" + "n".repeat(300))
fs.openSync(base + "/none")
fs.openSync(base + "/d", "w")
fs.closeSync(99)
fs.readSync(99, Buffer.alloc(1))
fs.closeSync("x")
(() => { const fd = fs.openSync(base + "/io", "w+"); const out = [fs.writeSync(fd, "hello"), fs.writeSync(fd, Buffer.from("XY"), 0, 2, 1)]; const into = Buffer.alloc(8); out.push(fs.readSync(fd, into, 0, 8, 0), into.toString("latin1"), fs.readSync(fd, into), fs.fstatSync(fd).size); fs.ftruncateSync(fd, 3); fs.closeSync(fd); return [...out, fs.readFileSync(base + "/io", "utf8")]; })()
(() => { const fd = fs.openSync(base + "/io", "a"); fs.writeSync(fd, "!", 0); fs.closeSync(fd); return fs.readFileSync(base + "/io", "utf8"); })()
(() => { const fd = fs.openSync(base + "/io", "r"); try { fs.writeSync(fd, "x"); } finally { fs.closeSync(fd); } })()
(() => { const fd = fs.openSync(base + "/io", "w"); try { fs.readSync(fd, Buffer.alloc(1)); } finally { fs.closeSync(fd); } })()
(() => { const fd = fs.openSync(base + "/gap", "w"); fs.writeSync(fd, "x", 3); fs.closeSync(fd); return fs.readFileSync(base + "/gap"); })()
(() => { const fd = fs.openSync(base + "/gap", "r+"); fs.unlinkSync(base + "/gap"); fs.writeSync(fd, "abc", 0); const text = fs.readFileSync(fd, "latin1"); fs.closeSync(fd); return [text, fs.existsSync(base + "/gap")]; })()
promises.writeFile(base + "/p", "one")
promises.appendFile(base + "/p", "two")
promises.readFile(base + "/p", "utf8")
promises.readFile(base + "/none")
promises.mkdir(base + "/pd/pe", { recursive: true })
promises.rm(base + "/pd", { recursive: true, force: true })
promises.stat(base + "/pd")
promises.access(base + "/pd")
promises.rename(base + "/p", base + "/q")
(async () => { const handle = await promises.open(base + "/q", "r+"); const { bytesRead, buffer } = await handle.read(Buffer.alloc(4), 0, 4, 1); const { bytesWritten } = await handle.write("Z"); await handle.truncate(4); const text = await handle.readFile("utf8"); await handle.close(); return [bytesRead, buffer.toString(), bytesWritten, text, await promises.readFile(base + "/q", "utf8")]; })()
(async () => { const names = []; for await (const entry of await promises.opendir(base + "/x")) names.push(entry.name); return names.sort(); })()
new Promise((resolve, reject) => fs.readFile(base + "/q", "utf8", (error, text) => error ? reject(error) : resolve(text)))
new Promise((resolve, reject) => fs.readFile(base + "/none", (error, text) => error ? reject(error) : resolve(text)))
new Promise((resolve) => fs.exists(base + "/q", resolve))
fs.readFile(base + "/q")
new Promise((resolve, reject) => fs.mkdir(base + "/made", (error) => error ? reject(error) : resolve(fs.existsSync(base + "/made"))))
fs.watch === undefined
fs.promises === promises
Object.keys(promises.constants).length === Object.keys(fs.constants).length
["O_RDONLY", "O_RDWR", "O_CREAT", "O_EXCL", "O_TRUNC", "O_APPEND", "S_IFMT", "S_IFREG", "S_IFDIR", "S_IFLNK", "F_OK", "R_OK", "W_OK", "X_OK", "COPYFILE_EXCL"].map((name) => fs.constants[name])
[fs.statSync(base).birthtime instanceof Date, fs.statSync(base) instanceof fs.Stats, Object.keys(fs.statSync(base, { bigint: true })).includes("mtimeNs")]
fs.readdirSync(base, { recursive: true }).length > 5
fs.rmSync(base, { recursive: true })
fs.existsSync(base)
`
  .trim()
  .split("\n");

const CODE = `${RUN}const steps = [${STEPS.map((step) => `async (base) => (${step})`).join(",\n")}];`;

/** Words that need not be the same: in which of its calls Node's own notices. */
const LOOSE = /\b(?:rm|cpSync|copyFileSync)\(/;

const shared = sharedHost("thread", {
  plugins: [
    {
      id: "volume",
      grants: { fs: true },
      hooks: { cpuMs: 5_000, timeoutMs: 20_000 },
      limits: { hostCalls: 1_000 },
      source: `${CODE}
module.exports = (api) => api.on("message_sending", async ({ content }) => {
  const said = [];
  fs.mkdirSync("base");
  for (const step of steps) said.push(await tell("/home/plugin/base", step));
  return { content: JSON.stringify(said) };
});`,
    },
  ],
});

const made = mkdtempSync(join(tmpdir(), "test-of-creel-"));
afterAll(() => rmSync(made, { recursive: true, force: true }));

it("answers as Node does, step by step", async () => {
  // oxlint-disable-next-line typescript/no-implied-eval -- the same text runs in the cell
  const inNode = new Function(
    "require",
    `${CODE} return async (base) => { const said = []; for (const step of steps) said.push(await tell(base, step)); return said; };`,
  )(createRequire(import.meta.url)) as (base: string) => Promise<Record<string, unknown>[]>;
  const expected = JSON.parse(JSON.stringify(await inNode(made))) as Record<string, unknown>[];
  const outcome = await shared.host.run("message_sending", { to: "x", content: "go" }, { channelId: "c" });
  expect(outcome.calls[0]?.error).toBeUndefined();
  const said = JSON.parse((outcome.result as { content: string }).content) as Record<string, unknown>[];
  const differences = STEPS.flatMap((step, at) => {
    const [inCell, outside] = [said[at], expected[at]].map((answer) =>
      JSON.stringify(LOOSE.test(step) ? (answer?.code ?? answer) : answer),
    );
    return inCell === outside ? [] : [{ step, inCell, outside }];
  });
  expect(differences).toEqual([]);
  expect(said).toHaveLength(expected.length);
});
