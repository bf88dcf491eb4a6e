/**
 * `node -C source scripts/compat/record.ts --openclaw <folder> [--checkouts <folder>] [--only <names>]` writes expected.json:
 * what each plugin of list.json declares and answers where Node runs it, without Creel. It takes the bundle that Creel makes
 * and gives it Node's own modules, the SDK of the OpenClaw in that folder's node_modules, and an `api` of the documented
 * members. The plugin runs unconfined but for namespaces without network and with an empty home, as a user without rights:
 * Linux, as root.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { answerOf, eventsOf, plain } from "./answers.ts";
import type { Answer, Expected } from "./answers.ts";
import { withInstalled } from "./plugins.ts";

interface Named {
  readonly name: string;
  readonly version: string;
}

interface Said {
  readonly error?: string;
  readonly declares: Record<string, string[]>;
  /** Hook → event → handler. */
  readonly hooks: Record<string, { returned?: unknown; threw?: string }[][]>;
}

const HERE = import.meta.dirname;
const FILE = join(HERE, "expected.json");
const AT_ONCE = 3;
/** A home of its own, no network, no rights: whoever wrote the plugin is a stranger. */
const ALONE = `mount -t tmpfs tmpfs /plugin && chown 65534:65534 /plugin && mount -t tmpfs tmpfs /home && mkdir /home/plugin && chown 65534:65534 /home/plugin && cd /home/plugin &&
exec setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs env -i HOME=/home/plugin PATH=/usr/bin:/bin TZ=UTC "$0" --no-warnings "$1"`;
const UNSHARE = ["--net", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child", "--mount-proc", "sh", "-c", ALONE];

const { values: options } = parseArgs({
  options: { openclaw: { type: "string" }, checkouts: { type: "string" }, only: { type: "string" } },
});
const sdk = resolve(options.openclaw!);
const list = JSON.parse(readFileSync(join(HERE, "list.json"), "utf8")) as Record<"plugins" | "repositories", Named[]>;
const expected: Record<string, Expected> = existsSync(FILE) ? (JSON.parse(readFileSync(FILE, "utf8")) as Record<string, Expected>) : {};
const only = options.only?.split(",");
const root = mkdtempSync(join(tmpdir(), "creel-record-"));
// The place of the plugin's files in a cell: a file system of its own in each namespace.
const isOurs = !existsSync("/plugin") && mkdirSync("/plugin") === undefined;
try {
  const sources = [
    ...list.plugins.map((one) => ({ ...one, source: `${one.name}@${one.version}` })),
    ...(options.checkouts === undefined
      ? []
      : list.repositories.map((one) => ({ ...one, source: join(options.checkouts!, one.name.replace("/", "+")) }))),
  ];
  const waiting = sources.filter((one) => only?.includes(one.name) ?? true);
  const worker = async (): Promise<void> => {
    for (let one = waiting.shift(); one; one = waiting.shift()) await record(one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
} finally {
  if (isOurs) rmdirSync("/plugin");
  rmSync(root, { recursive: true, force: true });
}

async function record({ name, version, source }: Named & { source: string }): Promise<void> {
  const said = await recorded(source).catch((error: unknown) => ({ error: String(error) }));
  if ("declares" in said) expected[name] = { version, declares: said.declares, hooks: answersOf(said.hooks) };
  console.log(
    `${said.error === undefined ? "recorded" : "not     "} ${name}${said.error === undefined ? "" : `: ${said.error.slice(0, 300)}`}`,
  );
  const sorted = Object.fromEntries(Object.entries(expected).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(FILE, `${JSON.stringify(sorted, undefined, 2)}\n`);
}

function recorded(source: string): Promise<Said> {
  return withInstalled(source, root, async ({ id, host, code, own, config, contracted }) => {
    const { error, hooks } = host.inspect(id);
    if (error) throw error;
    const events = Object.fromEntries(hooks.map(({ hook }) => [hook, eventsOf(hook)]));
    const facts = { id, name: id, pluginConfig: config, config: { agents: { defaults: {} } } };
    const child = spawn("unshare", [...UNSHARE, process.execPath, join(HERE, "in-node.mjs")], { timeout: 120_000 });
    child.stdin.end(JSON.stringify({ code, own, facts, events, sdk }));
    const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    const last = stdout.trimEnd().split("\n").at(-1);
    if (status !== 0 || last === undefined || last === "") throw new Error(`Node ended with ${String(status)}: ${stderr}`);
    const said = JSON.parse(last) as Said;
    if (said.error !== undefined || contracted === undefined) return said;
    return { ...said, declares: { ...said.declares, tools: said.declares["tools"]!.filter((name) => contracted.includes(name)) } };
  });
}

function answersOf(hooks: Said["hooks"]): Record<string, Answer[]> {
  return Object.fromEntries(
    Object.entries(hooks).map(([hook, events]) => [hook, events.map((handlers) => plain(answerOf(hook, handlers)))]),
  );
}
