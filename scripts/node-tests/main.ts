/**
 * Runs tests of Node's own repository inside cells, through a real host, and counts:
 * `NODE_DIR=<checkout> node -C source scripts/node-tests/main.ts [--failures] [prefix]…`. What counts are tests that this
 * machine's Node passes with the same harness (common.cjs). Left out: those that need a server, a process, a thread, V8's
 * flags or Node's internals, which no plugin has. Nothing of that checkout is part of this project.
 */
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { openHost } from "../../src/sdk/open-host.ts";

const AREAS: Readonly<Record<string, RegExp>> = {
  stream: /^(?:stream|streams)-/,
  zlib: /^zlib-/,
  "async_hooks (AsyncLocalStorage, AsyncResource)": /^(?:async-local-storage|asyncresource|async-hooks-async)/,
  diagnostics_channel: /^diagnostics-channel-/,
  readline: /^readline-/,
  events: /^(?:event-emitter|events)-/,
  buffer: /^buffer-/,
  string_decoder: /^string-decoder/,
  querystring: /^querystring/,
  path: /^path/,
  url: /^url-/,
  util: /^util-/,
  timers: /^timers-/,
  "http, https (client)": /^https?-/,
  "net, tls, dns (client)": /^(?:net|tls|dns)-/,
};
const LEFT_OUT =
  /^\/\/ Flags:|internal\/|internalBinding|process\.binding|createServer|\.listen\(|require\(['"](?:node:)?(?:child_process|cluster|worker_threads|vm|v8|inspector|repl|http2|dgram|sqlite|test|domain|perf_hooks|quic|stream\/iter|zlib\/iter)['"]|require\(['"]\.\.\/(?!common['"]|common\/index)|require\(['"]\.\/|\bgc\(|process\.(?:exitCode|stdin|report|permission|emit\()|import\.meta|uncaughtException|unhandledRejection/m;
const AT_ONCE = 4;
const BATCH = 24;

const { values: flags, positionals } = parseArgs({ allowPositionals: true, options: { failures: { type: "boolean", default: false } } });
const checkout = process.env["NODE_DIR"];
if (checkout === undefined) {
  console.error("NODE_DIR has to name a checkout of nodejs/node");
  process.exit(2);
}
const tests = join(checkout, "test/parallel");
const folders = mkdtempSync(join(tmpdir(), "creel-node-tests-"));
const run = promisify(execFile);

interface Outcome {
  readonly name: string;
  /** Undefined: it passed. */
  readonly fault: string | undefined;
}

try {
  console.log("| area | tests | Node passes | of those, a cell passes |\n|---|---|---|---|");
  for (const [area, pattern] of Object.entries(AREAS)) {
    const names = readdirSync(tests).filter((file) => file.endsWith(".js") && pattern.test(file.replace(/^test-/, "")));
    const chosen = names.filter(
      (name) =>
        (positionals.length === 0 || positionals.some((prefix) => name.startsWith(`test-${prefix}`))) &&
        !LEFT_OUT.test(readFileSync(join(tests, name), "utf8")),
    );
    if (chosen.length === 0) continue;
    for (const name of chosen) prepare(name);
    const native = await eachOf(chosen, AT_ONCE, inNode);
    const counted = native.filter(({ fault }) => fault === undefined).map(({ name }) => name);
    const found: Outcome[] = [];
    for (let at = 0; at < counted.length; at += BATCH) found.push(...(await inCells(counted.slice(at, at + BATCH))));
    const failed = found.filter(({ fault }) => fault !== undefined);
    console.log(`| ${area} | ${chosen.length} | ${counted.length} | ${counted.length - failed.length} |`);
    if (flags.failures) for (const { name, fault } of failed) console.error(`  ✗ ${name}: ${fault!.replaceAll("\n", "\n      ")}`);
  }
} finally {
  rmSync(folders, { recursive: true, force: true });
}

/** A plugin around the test, which Node can run, too. */
function prepare(name: string): void {
  const folder = join(folders, name);
  mkdirSync(join(folder, "parallel"), { recursive: true });
  mkdirSync(join(folder, "common"));
  copyFileSync(join(import.meta.dirname, "common.cjs"), join(folder, "common/index.js"));
  copyFileSync(join(tests, name), join(folder, "parallel/test.js"));
  writeFileSync(join(folder, "creel.plugin.json"), JSON.stringify({ id: idOf(name) }));
  const finished = `require("./common/index.js").finished(() => require("./parallel/test.js"))`;
  writeFileSync(
    join(folder, "index.js"),
    `module.exports = (api) => api.registerTool({ name: api.id, execute: async () => ({ fault: await ${finished} }) });\n`,
  );
  writeFileSync(
    join(folder, "native.js"),
    `${finished}.then((fault) => { if (fault) { console.error(fault); process.exitCode = 1; } });\n`,
  );
}

async function inNode(name: string): Promise<Outcome> {
  try {
    await run(process.execPath, [join(folders, name, "native.js")], { timeout: 30_000 });
    return { name, fault: undefined };
  } catch (error) {
    return { name, fault: String((error as { stderr?: string }).stderr ?? error) };
  }
}

async function inCells(names: readonly string[]): Promise<Outcome[]> {
  const escaped = new Map<string, string>();
  const note = (fields: { plugin?: string; text?: string }): void => {
    if (fields.plugin !== undefined && /unhandled|uncaught/i.test(fields.text ?? "")) escaped.set(fields.plugin, fields.text!);
  };
  const logger = { trace() {}, debug() {}, info() {}, warn: note, error: note, fatal: note };
  await using host = await openHost({
    lanes: 1,
    allowFailed: true,
    logger,
    config: { sandbox: { spare: false } },
    plugins: names.map((name) => ({
      id: idOf(name),
      path: join(folders, name),
      grants: { fs: true },
      hooks: { budgets: { tool: { cpuMs: 5_000, timeoutMs: 20_000 } } },
      limits: { heapMb: 128, timers: 10_000, cpuShare: 1 },
    })),
  });
  return await eachOf(names, AT_ONCE, async (name) => {
    const id = idOf(name);
    const { error } = host.inspect(id);
    if (error) return { name, fault: error.message };
    const { value, error: thrown } = await host.call({ tool: id }, {});
    return { name, fault: thrown?.message ?? (value as { fault?: string }).fault ?? escaped.get(id) };
  });
}

function idOf(name: string): string {
  return name.replace(/\.js$/, "").replaceAll(/[^a-z0-9-]/g, "-");
}

async function eachOf<T>(names: readonly string[], atOnce: number, attempt: (name: string) => Promise<T>): Promise<T[]> {
  const made = new Map<string, T>();
  const waiting = [...names];
  const worker = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) made.set(name, await attempt(name));
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return names.map((name) => made.get(name)!);
}
