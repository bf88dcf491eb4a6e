/** Kills a gateway at random while it emits events of a durable hook, and counts what its receiver got: lost, out of order, twice. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { PluginSpec } from "creel";
import { outboxFile } from "../../src/host/durable/outbox.ts";
import { LIMITS } from "../../src/protocol/limits.ts";

const GATEWAY = fileURLToPath(new URL("./durable-gateway.ts", import.meta.url));

export interface Received {
  /** The event's number. */
  readonly n: number;
  readonly session: string;
  /** Of the delivery; undefined: the plugin does not send it. */
  readonly id: string | undefined;
  /** The life of the gateway that emitted it. */
  readonly life: number;
}

export interface Kills {
  readonly stateDir: string;
  readonly kills: number;
  readonly events: number;
  readonly sessions: number;
  /** This part of requests is refused, until all events are emitted. */
  readonly refuses: number;
  plugin(origin: string): PluginSpec;
  /** Hooks that are durable for every plugin. Default: `session:end`. */
  readonly durable?: readonly string[];
  /** Reads a request of the plugin. */
  read(url: string, body: unknown, headers: IncomingHttpHeaders): Received;
  /** The longest time of a life, ms. */
  readonly lifeMs: number;
}

export interface Figures {
  readonly kills: number;
  /** Kills of a gateway that had still events to emit, and of those the ones with an event emitted and not yet committed. */
  readonly killsWhileEmitting: number;
  readonly killsBeforeCommit: number;
  readonly emitted: number;
  /** Neither received nor kept. */
  readonly lost: number;
  /** Not received, but kept: such a run proves nothing. `why`: what the first one was given up for. `breaker`: what the plugin's remembers. */
  readonly waiting: number;
  readonly dead: number;
  readonly why: string | undefined;
  readonly breaker: string | undefined;
  readonly outOfOrder: number;
  readonly twice: number;
  /** Duplicates of one emission that came with another id. */
  readonly otherIds: number;
  readonly refused: number;
  readonly seconds: number;
}

export async function killGateway(options: Kills): Promise<Figures> {
  const { stateDir, kills, events, sessions, refuses, lifeMs } = options;
  const got: Received[] = [];
  let asked = 0;
  let refused = 0;
  let isSettling = false;
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      // A refused event waits as long as half its age: after the last kill that would only take time. But on a busy machine the first request
      // may come that late, and one refusal there is always.
      const isOneOfThem = refuses > 0 && asked++ % Math.round(1 / refuses) === 0;
      if (isOneOfThem && (!isSettling || refused === 0)) {
        refused += 1;
        return response.writeHead(503).end();
      }
      got.push(options.read(request.url!, JSON.parse(body), request.headers));
      return response.writeHead(200).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const plugin = options.plugin(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const startedMs = performance.now();
  let next = 0;
  let killed = 0;
  let killsWhileEmitting = 0;
  let killsBeforeCommit = 0;
  let spare = 0;
  // The events are spread over all lives: a kill that hits nothing that is being emitted proves little.
  const quota = Math.ceil(events / (kills + 1));
  for (let life = 0; ; life++) {
    const isLast = killed >= kills;
    const paceMs = isLast ? 0 : lifeMs / 2 / quota;
    const input = { stateDir, plugin, from: next, events, sessions, life, paceMs, durable: options.durable ?? ["session:end"] };
    const child = spawn(process.execPath, ["-C", "source", "--disable-warning=ExperimentalWarning", GATEWAY, JSON.stringify(input)], {
      stdio: ["ignore", "pipe", "inherit"],
      // A third of a life is spent on compiling modules: once is enough.
      env: { ...process.env, NODE_COMPILE_CACHE: join(stateDir, "compiled") },
    });
    const exited = new Promise((resolve) => child.once("exit", resolve));
    // Every other kill comes right after a number, so in a burst. The others come at any time.
    const killAt = life % 2 === 0 ? next + Math.floor(Math.random() * quota) : undefined;
    const first = next;
    let begun = next;
    for await (const line of createInterface(child.stdout)) {
      if (line === "open") {
        if (!isLast && killAt === undefined) setTimeout(() => child.kill("SIGKILL"), Math.random() * lifeMs);
      } else if (line.startsWith("+")) begun = Number(line) + 1;
      else next = Number(line) + 1;
      if (!isLast && killAt !== undefined && begun > killAt) child.kill("SIGKILL");
      if (isLast && next >= events) break;
    }
    if (isLast) {
      isSettling = true;
      // One that ended by itself, on a machine that was too busy to open a host: another life delivers the rest.
      const isOver = next >= events && (await settle(stateDir, () => got.length, child));
      child.kill("SIGKILL");
      await exited;
      if (isOver) break;
      if (++spare > SPARE_LIVES) throw new Error(`the last gateway ended by itself ${spare} times`);
      continue;
    }
    await exited;
    // One that ended by itself was no kill: a busy machine may be too slow to open a host.
    if (child.signalCode !== "SIGKILL") continue;
    killed += 1;
    if (begun > next) killsBeforeCommit += 1;
    if (next > first && next < events) killsWhileEmitting += 1;
  }
  server.close();
  server.closeAllConnections();
  return {
    kills: killed,
    killsWhileEmitting,
    killsBeforeCommit,
    emitted: events,
    refused,
    seconds: (performance.now() - startedMs) / 1000,
    ...judged(got, events, keptIn(stateDir)),
    breaker: breakerIn(stateDir),
  };
}

const SPARE_LIVES = 3;

/**
 * True: nothing waits any more, or what waits is stuck. A row is tried again after a pause of at most a minute, one that a killed host held
 * is taken over after at most another, and each attempt is counted in the file before it begins. So a file that does not change for longer
 * than both, and the time of one attempt, is stuck, however busy the machine is. False: the gateway ended.
 */
async function settle(stateDir: string, received: () => number, child: ChildProcess): Promise<boolean> {
  const stuckMs = LIMITS.outbox.longestPauseMs + TAKE_OVER_MS + ATTEMPT_MS;
  let before = "";
  for (let endMs = Infinity; performance.now() < endMs;) {
    if (child.exitCode !== null || child.signalCode !== null) return false;
    const rows = keptIn(stateDir).filter(({ dead }) => dead === undefined);
    if (rows.length === 0) return true;
    const now = `${received()} ${rows.map(({ seq, attempt }) => `${seq}:${attempt}`).join(" ")}`;
    if (now !== before) [before, endMs] = [now, performance.now() + stuckMs];
    await sleep(100);
  }
  return true;
}

/** As long as a lease that is not renewed is respected: see outbox.ts. */
const TAKE_OVER_MS = 12 * LIMITS.outbox.lookMs;
/** More than any handler of an observe hook may take. */
const ATTEMPT_MS = 60_000;

interface Kept {
  readonly seq: number;
  readonly n: number;
  readonly attempt: number;
  /** Why it was given up; undefined: it waits. */
  readonly dead: string | undefined;
}

/** What the outbox still has. */
function keptIn(stateDir: string): Kept[] {
  const path = outboxFile(stateDir);
  if (!existsSync(path)) return [];
  using database = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
  const rows = database.prepare("SELECT seq, event, attempt, dead FROM delivery ORDER BY seq").all();
  return rows.map(({ seq, event, attempt, dead }) => ({
    seq: Number(seq),
    n: (JSON.parse(event as string) as { context: { metadata: { n: number } } }).context.metadata.n,
    attempt: Number(attempt),
    dead: dead === null ? undefined : (dead as string),
  }));
}

/** What the breakers remember: a plugin in quarantine gets no events until its code changes. */
function breakerIn(stateDir: string): string | undefined {
  const path = join(stateDir, "quarantine.json");
  if (!existsSync(path)) return undefined;
  const { plugins } = JSON.parse(readFileSync(path, "utf8")) as { plugins: Record<string, { state: string; why: string }> };
  return Object.values(plugins).map(({ state, why }) => `${state}: ${why}`)[0];
}

function judged(
  got: readonly Received[],
  events: number,
  kept: readonly Kept[],
): Pick<Figures, "lost" | "waiting" | "dead" | "why" | "outOfOrder" | "twice" | "otherIds"> {
  const latest = new Map<string, number>();
  const ids = new Map<string, string | undefined>();
  const seen = new Set<number>();
  let outOfOrder = 0;
  let twice = 0;
  let otherIds = 0;
  for (const { n, session, id, life } of got) {
    const emission = `${n} ${life}`;
    if (ids.has(emission)) {
      twice += 1;
      if (ids.get(emission) !== id) otherIds += 1;
    } else if (!seen.has(n)) {
      if (n < (latest.get(session) ?? -1)) outOfOrder += 1;
      latest.set(session, n);
    }
    seen.add(n);
    ids.set(emission, id);
  }
  // An event that was handled may still be there: its gateway was killed before it could note that.
  const missing = kept.filter(({ n }) => !seen.has(n));
  const there = new Set(missing.map(({ n }) => n));
  const dead = missing.filter((row) => row.dead !== undefined);
  return {
    lost: Array.from({ length: events }, (_, n) => n).filter((n) => !seen.has(n) && !there.has(n)).length,
    waiting: missing.length - dead.length,
    dead: dead.length,
    why: dead[0]?.dead,
    outOfOrder,
    twice,
    otherIds,
  };
}

/** A plugin that posts every event and asks for another attempt when the receiver refuses. */
export function postingPlugin(origin: string): PluginSpec {
  const source = `export default (api) => {
    api.on("session:end", async ({ sessionKey, context }, ctx) => {
      const { n, life } = context.metadata;
      const { ok } = await fetch("${origin}/", { method: "POST", body: JSON.stringify({ n, life, session: sessionKey, id: ctx.delivery.id }) });
      if (!ok) throw new Error("refused");
    });
  };`;
  return { id: "poster", source, grants: { fetch: [origin] } };
}
