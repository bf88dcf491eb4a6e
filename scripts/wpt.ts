/**
 * Runs Web Platform Tests inside cells, through a real host, and counts: `WPT_DIR=<checkout> node -C source scripts/wpt.ts [file or folder]…`.
 * Without names it runs those of docs/reference/web-platform.md. Nothing of that checkout is part of this project; the harness is our own.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { openHost } from "creel";
import { harness } from "./wpt-harness.ts";
import type { Verdict } from "./wpt-harness.ts";
import { silentLogger } from "../src/host/report/silent-logger.ts";

const FOLDERS = [
  "url",
  "encoding",
  "encoding/streams",
  "dom/abort",
  "dom/events",
  "html/webappapis/structured-clone",
  "html/webappapis/atob",
  "html/webappapis/timers",
  "html/webappapis/microtask-queuing",
  "webidl/ecmascript-binding/es-exceptions",
  "streams",
  "streams/readable-streams",
  "streams/readable-byte-streams",
  "streams/writable-streams",
  "streams/transform-streams",
  "streams/piping",
  "FileAPI/blob",
  "FileAPI/file",
  "xhr/formdata",
  "hr-time",
  "user-timing",
  "console",
];
/** Checks of interface definitions need the definitions' own parser; garbage is collected when V8 likes. */
const LEFT_OUT = /idlharness|garbage-collection|\.tentative\./;

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { failures: { type: "boolean", default: false }, json: { type: "boolean", default: false } },
});
const root = process.env["WPT_DIR"];
if (root === undefined || !existsSync(root)) {
  console.error("WPT_DIR has to name a checkout of web-platform-tests");
  process.exit(2);
}
const checkout: string = root;

/** A cell of its own for every file, and each run asks one of them. */
const pluginFor = (id: string): string => `
  export default (api) => api.on("message_sending", async (event) => {
    if (event.to !== "${id}") return undefined;
    const { harness, script, resources } = JSON.parse(event.content);
    const finish = (0, eval)("(" + harness + ")")(resources);
    try { (0, eval)(script); }
    catch (error) { return { content: JSON.stringify({ error: String(error) }) }; }
    return { content: JSON.stringify({ verdicts: await finish() }) };
  });`;

const files = (positionals.length > 0 ? positionals : FOLDERS).flatMap((name) => {
  if (!statSync(join(checkout, name)).isDirectory()) return [name];
  const found = readdirSync(join(checkout, name)).filter((file) => file.endsWith(".any.js") && !LEFT_OUT.test(file));
  return found.toSorted().map((file) => `${name}/${file}`);
});

interface Outcome {
  file: string;
  passed: number;
  total: number;
  error?: string;
  failures: Verdict[];
}
const outcomes: Outcome[] = [];
/** So many cells at a time. */
const BATCH = 40;
for (let at = 0; at < files.length; at += BATCH) {
  const batch = files.slice(at, at + BATCH);
  await using host = await openHost({
    lanes: 1,
    config: { sandbox: { spare: false, walls: "none" } },
    logger: silentLogger,
    plugins: batch.map((_, index) => ({
      id: `wpt-${index}`,
      source: pluginFor(`wpt-${index}`),
      hooks: { cpuMs: 5_000, timeoutMs: 15_000 },
      limits: { heapMb: 512, bytesOut: 8_000_000, timers: 10_000, cpuShare: 1 },
    })),
  });
  for (const [index, file] of batch.entries()) {
    const { calls, result } = await host.run(
      "message_sending",
      { to: `wpt-${index}`, content: JSON.stringify(partsOf(file)) },
      { channelId: "chat" },
    );
    const told = result?.content?.startsWith('{"verdicts"') || result?.content?.startsWith('{"error"') ? result.content : undefined;
    const { verdicts = [], error } = JSON.parse(told ?? "{}") as { verdicts?: Verdict[]; error?: string };
    const failures = verdicts.filter(({ isOk }) => !isOk);
    const why = error ?? (told === undefined ? `no answer: ${calls[index]?.status} ${calls[index]?.error?.message ?? ""}` : undefined);
    outcomes.push({
      file,
      passed: verdicts.length - failures.length,
      total: verdicts.length,
      failures,
      ...(why === undefined ? {} : { error: why }),
    });
    print(outcomes.at(-1)!);
  }
}

function print({ file, passed, total, error, failures }: Outcome): void {
  if (flags.json) return;
  console.log(`${passed}/${total}`.padStart(11), file, error ?? "");
  if (flags.failures) for (const { name, message } of failures) console.log(`            ✗ ${name}\n              ${message}`);
}

if (flags.json) console.log(JSON.stringify(outcomes));
else {
  const folders = Map.groupBy(outcomes, ({ file }) => dirname(file));
  console.log("\n| folder | files | passed | of |\n|---|---|---|---|");
  for (const [folder, list] of folders) {
    const sum = (field: "passed" | "total"): number => list.reduce((total, one) => total + one[field], 0);
    console.log(`| ${folder} | ${list.length} | ${sum("passed")} | ${sum("total")} |`);
  }
}

/** The harness, the test with the scripts it includes, and the data it will ask for. */
function partsOf(file: string): { harness: string; script: string; resources: Record<string, string> } {
  const folder = dirname(file);
  const read = (name: string): string => readFileSync(join(checkout, name.startsWith("/") ? name : `${folder}/${name}`), "utf8");
  const source = readFileSync(join(checkout, file), "utf8");
  const included = [...source.matchAll(/^\/\/ META: script=(.*)$/gm)].map(([, name]) => read(name!.trim()));
  const resources = [...source.matchAll(/["'`]([\w./-]+\.json)["'`]/g)].map(([, name]) => [name!, read(name!)]);
  return {
    harness: harness.toString(),
    // One script: constants of one are seen by the next.
    script: [...included, source].join("\n;\n"),
    resources: Object.fromEntries(resources) as Record<string, string>,
  };
}
