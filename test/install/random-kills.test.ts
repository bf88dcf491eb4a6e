/**
 * Two hundred installs, updates, downgrades and uninstalls, whole ones, by processes that are killed at every step and at moments that chance
 * chooses: what is there is always what was there before the operation, or what is there after it.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { bundleOf } from "../../src/state/bundle-files.ts";
import { openState } from "../../src/state/state.ts";
import type { LockEntry } from "../../src/state/lock.ts";
import { folder, QUICK } from "../support/files.ts";
import { open } from "../support/host.ts";
import { membersOf } from "../support/process.ts";
import { openRegistry } from "../support/registry.ts";
import { gzip, tar } from "../support/tar.ts";
import type { Order } from "./operation-child.ts";
import { ALL_STEPS, applied, dice, FROM_NPM, IDS, operationOf, sourceOf, VERSIONS } from "./operations.ts";
import type { Model, Operation } from "./operations.ts";

const OPERATIONS = 200;
/** Beside those that end at a step, one in so many is struck. */
const EVERY = 16;
/** What is between the last step's beginning and the end. */
const LAST_MS = 8;
const seed = Number(process.env.CREEL_TEST_SEED ?? Math.floor(Math.random() * 1e6));

const SCRIPT = fileURLToPath(new URL("operation-child.ts", import.meta.url));
const CACHE = new URL("../../scripts/compile-cache.mjs", import.meta.url).href;

interface Strike {
  readonly after: "begin" | "activate";
  readonly ms: number;
}

/** In a session of its own, so that whatever it has started can be found when it is gone. */
class Worker {
  readonly #process = spawn(process.execPath, ["-C", "source", "--import", CACHE, SCRIPT], { detached: true });
  readonly session = this.#process.pid!;
  readonly #gone = once(this.#process, "close");
  readonly lines: string[] = [];
  #errors = "";
  isFresh = true;
  /** It was struck: perhaps after it had done what it was told, and it does nothing any more. */
  isStruck = false;

  constructor() {
    workers.add(this);
    let rest = "";
    this.#process.stdout.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      this.lines.push(...lines);
    });
    this.#process.stderr.setEncoding("utf8").on("data", (text: string) => (this.#errors += text));
    // It may be gone before it was told.
    this.#process.stdin.on("error", () => {});
  }

  async ready(): Promise<void> {
    while (this.isFresh && !this.lines.includes("ready")) await this.#news();
  }

  /** True: it was done. False: it was killed, by itself or so many milliseconds after a step had begun. */
  async does(order: Order, strike: Strike | undefined): Promise<boolean> {
    this.lines.length = 0;
    this.isFresh = false;
    this.#process.stdin.write(`${JSON.stringify(order)}\n`);
    let timer: NodeJS.Timeout | undefined;
    try {
      while (!this.lines.includes("done")) {
        if (strike && !timer && (strike.after === "begin" || this.lines.includes(`step ${strike.after}`)))
          timer = setTimeout(() => this.kill(), strike.ms);
        await this.#news();
      }
      return true;
    } catch (error) {
      if (this.#process.signalCode !== "SIGKILL") throw error;
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  kill(): void {
    this.isStruck = true;
    this.#process.kill("SIGKILL");
  }

  /** Everything that it said has been read when it is gone. */
  async #news(): Promise<void> {
    const isGone = await Promise.race([once(this.#process.stdout, "data").then(() => false), this.#gone.then(() => true)]);
    if (isGone) throw new Error(`the process has ended: ${this.#errors}`);
  }
}

/** Sandboxes, the bundler, npm: nobody outlives whoever started them for long. */
async function expectNobodyLeft(worker: Worker): Promise<void> {
  workers.delete(worker);
  await expect.poll(() => membersOf(worker.session), { timeout: 15_000 }).toEqual([]);
}

const workers = new Set<Worker>();
afterAll(() => {
  for (const worker of workers) worker.kill();
});

describe("installing, updating, downgrading and uninstalling, and being killed", () => {
  const where = folder({}, QUICK);
  const state = openState(join(where, "state"), { retiredMs: 0 });

  /** All that is installed, each loaded, and so compared with what was put there. */
  async function inventory(): Promise<{ model: Model; entries: Map<string, LockEntry> }> {
    const entries = new Map(await state.read());
    const model = new Map<string, string>();
    for (const [id, { version }] of entries) {
      const { code } = bundleOf(await state.load(id));
      expect(code).toContain(`"${id}@${version}"`);
      model.set(id, version!);
    }
    return { model, entries };
  }

  /** After an operation that has ended, whatever happened to those before it. */
  function expectTidy(entries: Map<string, LockEntry>): void {
    const stores = new Set(Array.from(entries.values(), ({ store }) => store));
    const found = ["work", "staging", "store"].map((name) => readdirSync(join(state.dir, name)).toSorted());
    expect(found).toEqual([[], [], [...stores].toSorted()]);
  }

  it(`leaves what was there before, or what is there after, ${OPERATIONS} times (seed ${seed})`, { timeout: 400_000 }, async () => {
    await using registry = await openRegistry();
    for (const id of IDS)
      for (const version of VERSIONS) {
        const files = { "creel.plugin.json": JSON.stringify({ id, version }), "index.ts": sourceOf(id, version) };
        const entries = Object.entries(files).map(([name, content]) => ({ name: `package/${name}`, content }));
        if (id === FROM_NPM) await registry.publish({ name: id, version }, files);
        else writeFileSync(join(where, `${id}-${version}.tgz`), gzip(tar(...entries)));
      }
    const orderOf = (operation: Operation): Order => ({
      ...operation,
      dir: state.dir,
      source: operation.id === FROM_NPM ? `${FROM_NPM}@${operation.version}` : join(where, `${operation.id}-${operation.version}.tgz`),
      env: registry.env,
    });

    let now = await inventory();
    let worker = new Worker();
    let spare = new Worker();
    /** How long such an operation takes. */
    const spans = new Map<string, number>();
    let owed = 0;
    const replace = async (): Promise<void> => {
      await expectNobodyLeft(worker);
      worker = spare;
      spare = new Worker();
    };
    const seen = { kills: 0, random: 0, before: 0, after: 0, steps: new Map<string, number>() };
    for (let number = 0; number < OPERATIONS; number++) {
      const operation = operationOf(seed, number, now.model);
      await worker.ready();
      const kind = [operation.version === undefined, operation.id === FROM_NPM, operation.isolation, worker.isFresh].join();
      const span = spans.get(kind);
      if (number % EVERY === 0) owed += 1;
      // One that its operation was too quick for is given to the next.
      const isStruck = owed > 0 && operation.endsAt === undefined && span !== undefined;
      const when = dice(seed, `${number} when`);
      // The state changes in the last few milliseconds: half of the blows are for those.
      const isLate = operation.version !== undefined && dice(seed, `${number} late`) < 0.5;
      const strike: Strike | undefined = isStruck
        ? isLate
          ? { after: "activate", ms: when * LAST_MS }
          : { after: "begin", ms: when * span }
        : undefined;
      const startedMs = performance.now();
      const isDone = await worker.does(orderOf(operation), strike);
      const found = await inventory();
      const after = applied(now.model, operation);
      const isAfter = isDeepStrictEqual(found.model, after);
      // It may have made the change and not have come to say so.
      expect(isDone ? [after] : [now.model, after]).toContainEqual(found.model);
      // Others are as they were, to the letter; if nothing has happened, it is, too.
      const kept = (entries: Map<string, LockEntry>) => [...entries].filter(([id]) => id !== operation.id || !isAfter);
      expect(kept(found.entries)).toEqual(kept(now.entries));
      now = found;
      if (isDone) {
        spans.set(kind, performance.now() - startedMs);
        expectTidy(found.entries);
        if (worker.isStruck) await replace();
        continue;
      }
      const last = worker.lines.findLast((line) => line.startsWith("step "))?.slice("step ".length) ?? "begin";
      seen.kills += 1;
      if (isStruck) {
        seen.random += 1;
        owed -= 1;
      }
      seen[isAfter ? "after" : "before"] += 1;
      seen.steps.set(last, (seen.steps.get(last) ?? 0) + 1);
      await replace();
    }
    for (const last of [worker, spare]) {
      last.kill();
      await expectNobodyLeft(last);
    }
    expect([...ALL_STEPS].filter((step) => !seen.steps.has(step))).toEqual([]);
    expect(seen.random).toBeGreaterThan(OPERATIONS / EVERY / 2);
    if (process.env.CREEL_TEST_SEED) console.log(seen);

    // And it is good for what it is there for.
    await using host = await open("thread", { config: { stateDir: state.dir, plugins: { load: { lazy: false } } } });
    expect(new Map(host.plugins().map(({ id, version, status }) => [id, `${version} ${status}`]))).toEqual(
      new Map(Array.from(now.model, ([id, version]) => [id, `${version} ready`])),
    );
  });
});
