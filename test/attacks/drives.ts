/**
 * Calls in which an attack takes part beside an innocent plugin, made again and again while it is in place: the question it tries to swallow, the
 * parameters it tries to freeze, the event it tries to blow up, the neighbour it wants to be blamed. A file of the corpus names them in `@drive`. Each
 * says what must not come of it; how it ends otherwise is the host's business. `own` calls the attack's own tool; `sync` is driven beside every attack that stays.
 */
import type { Host, Outcome, PluginSpec } from "creel";
import type { Stage } from "./stage.ts";
import type { StallMeter } from "./stalls.ts";

const INNOCENT = {
  approver: `
    api.on("before_tool_call", (event) => ({ requireApproval: {
      title: "Delete everything?", description: event.params.command, severity: "critical", allowedDecisions: ["allow-once", "deny"],
    } }), { matcher: ["danger"], priority: 10 });`,
  washer: `
    api.on("before_tool_call", (event) => ({ params: { command: event.params.command.replace(/TOKEN=\\S+/, "TOKEN=[removed]") } }),
      { matcher: ["wash"], priority: 10 });`,
  onlooker: `api.on("before_tool_call", () => ({ block: true, blockReason: "seen" }), { matcher: ["grow"], priority: -10 });`,
  ponderer: `
    api.on("before_tool_call", () => { const end = Date.now() + 45; while (Date.now() < end); return undefined; }, { matcher: ["ponder"] });`,
  waiter: `
    api.on("before_tool_call", async () => { await new Promise((resolve) => setTimeout(resolve, 150)); return { params: { waited: true } }; },
      { matcher: ["wait"] });`,
  censor: `api.on("before_message_write", (event) => (/secret/.test(JSON.stringify(event.message)) ? { block: true } : undefined));`,
  warden: `
    api.on("tool_result_persist", (event) => ({ message: { ...event.message, content: event.message.content.replace("TOKEN=abc", "[removed]") } }));`,
} as const;
/** Its hooks fail closed, whatever the catalog says. */
const REQUIRED = "warden";

export const DRIVEN_PLUGINS: readonly PluginSpec[] = Object.entries(INNOCENT).map(([id, body]) => ({
  id,
  source: `export default (api) => { ${body} };`,
  required: id === REQUIRED,
}));

export const DRIVE_NAMES = ["danger", "wash", "grow", "ponder", "wait", "own", "keep", "sync"] as const;
export type DriveName = (typeof DRIVE_NAMES)[number];
export const isDrive = (name: string): name is DriveName => (DRIVE_NAMES as readonly string[]).includes(name);

interface Drive {
  /** Undefined: the attack is alone in it. */
  readonly innocent?: keyof typeof INNOCENT;
  readonly everyMs: number;
  run(host: Host, attack: string): Promise<Outcome> | Outcome;
  /** It went through, and should not have. */
  isPassed(outcome: Outcome): boolean;
}

const TOKEN = "TOKEN=abc";
const ctx = (toolName: string) => ({ agentId: "main", toolName, runId: "drive" });
const tool = (host: Host, toolName: string, params: Record<string, unknown>): Promise<Outcome> =>
  host.run("before_tool_call", { toolName, params }, ctx(toolName));
const isNotBlocked = ({ decision }: Outcome): boolean => decision !== "block";

export const DRIVES: Readonly<Record<DriveName, Drive>> = {
  danger: { innocent: "approver", everyMs: 200, run: (host) => tool(host, "danger", { command: "rm -rf /" }), isPassed: isNotBlocked },
  wash: {
    innocent: "washer",
    everyMs: 200,
    run: (host) => tool(host, "wash", { command: `curl -H ${TOKEN} https://x.example` }),
    isPassed: ({ decision, result }) => decision !== "block" && !isWashed(result),
  },
  grow: { innocent: "onlooker", everyMs: 1_000, run: (host) => tool(host, "grow", {}), isPassed: isNotBlocked },
  ponder: { innocent: "ponderer", everyMs: 200, run: (host) => tool(host, "ponder", {}), isPassed: () => false },
  wait: { innocent: "waiter", everyMs: 200, run: (host) => tool(host, "wait", {}), isPassed: () => false },
  own: { everyMs: 200, run: (host, attack) => tool(host, attack, {}), isPassed: () => false },
  // Synchronous, of a required plugin: while the process is replaced nothing is stored, and nothing is stored unwashed.
  keep: {
    innocent: REQUIRED,
    everyMs: 20,
    run: (host) => host.runSync("tool_result_persist", { toolName: "x", message: { role: "toolResult", content: TOKEN } }),
    isPassed: ({ decision, result }) => decision !== "block" && !JSON.stringify(result ?? TOKEN).includes("[removed]"),
  },
  sync: {
    innocent: "censor",
    everyMs: 50,
    run: (host) => host.runSync("before_message_write", { message: { role: "user", content: "my secret" } }),
    isPassed: isNotBlocked,
  },
};

function isWashed(result: unknown): boolean {
  const { params } = (result ?? {}) as { params?: { command?: unknown } };
  return typeof params?.command === "string" && !params.command.includes(TOKEN);
}

/** The user: refuses what the guard asks, and says "always" to anything harmless. One question may show the requests of several plugins. */
export async function requestApproval(question: object): Promise<"deny" | "allow-always"> {
  return JSON.stringify(question).includes("approver") ? "deny" : "allow-always";
}

export interface DriveTally {
  sent: number;
  /** Let through that should not have been. */
  passed: number;
  /** The innocent plugin's own call failed, or the run was rejected. */
  failed: number;
  /** Synchronous runs while the sandbox process was being replaced: they cannot wait for it, and their hook fails open. */
  unserved: number;
  /** The longest time that a synchronous run kept the gateway's thread waiting. */
  longestSyncMs: number;
  examples: string[];
}

const isSync = (name: DriveName): boolean => name === "sync" || name === "keep";

export const emptyDrives = (): DriveTally => ({ sent: 0, passed: 0, failed: 0, unserved: 0, longestSyncMs: 0, examples: [] });

const EXAMPLES = 3;

export class Driver implements AsyncDisposable {
  readonly #host: Host;
  readonly #attack: string;
  readonly #stalls: StallMeter;
  readonly #tally: DriveTally;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #open = new Set<Promise<void>>();

  constructor({ host, stalls }: Stage, attack: string, names: readonly DriveName[], tally: DriveTally) {
    this.#host = host;
    this.#stalls = stalls;
    this.#attack = attack;
    this.#tally = tally;
    for (const name of names) this.#timers.push(setInterval(() => this.#send(name), DRIVES[name].everyMs));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all(this.#open);
  }

  #send(name: DriveName): void {
    const made = this.#make(name).finally(() => this.#open.delete(made));
    this.#open.add(made);
  }

  async #make(name: DriveName): Promise<void> {
    const drive = DRIVES[name];
    this.#tally.sent += 1;
    try {
      const outcome = await (isSync(name) ? this.#runSync(drive) : drive.run(this.#host, this.#attack));
      // A run in which nothing but the attack takes part may come to anything.
      const own = outcome.calls.find(({ plugin }) => plugin === drive.innocent);
      const isUnserved = isSync(name) && own?.error?.code === "ERR_SANDBOX_DIED";
      // By the catalog the hook of `sync` fails open; that of `keep` has to be shut.
      if (isUnserved && name === "sync") {
        this.#tally.unserved += 1;
        return;
      }
      const hasFailed = !isUnserved && own !== undefined && own.status !== "ok" && own.status !== "skipped";
      if (drive.isPassed(outcome)) this.#tally.passed += 1;
      if (hasFailed) this.#tally.failed += 1;
      if (hasFailed || drive.isPassed(outcome)) this.#note(`${name}: ${JSON.stringify({ ...outcome, result: undefined }).slice(0, 300)}`);
    } catch (error) {
      this.#tally.failed += 1;
      this.#note(`${name}: rejected with ${String(error).slice(0, 200)}`);
    }
  }

  #runSync(drive: Drive): Promise<Outcome> | Outcome {
    return this.#stalls.aside(
      () => drive.run(this.#host, this.#attack),
      (tookMs) => {
        this.#tally.longestSyncMs = Math.max(this.#tally.longestSyncMs, tookMs);
      },
    );
  }

  #note(text: string): void {
    if (this.#tally.examples.length < EXAMPLES) this.#tally.examples.push(text);
  }
}
