/**
 * `creel/testing`: the real sandbox in an author's test, with any test runner. The plugin is bundled, loaded and called as a gateway
 * would; what the test stands in for is the gateway's sessions and users, and the servers beyond this machine.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CATALOG } from "../../protocol/catalog.ts";
import type { AnyHook, Catalog, ContextOf, EventOf, HookName, NamesOfKind, ResultOf } from "../../protocol/catalog.ts";
import { errorMessage, ERRORS } from "../../protocol/errors.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import type { FunctionOutcome } from "../../protocol/messages/functions.ts";
import type { CallError, Outcome } from "../../protocol/outcome.ts";
import type { FunctionCallOptions, FunctionTarget } from "../../host/functions/function-calls.ts";
import type { PluginReport } from "../../host/report/inspect.ts";
import { attachWords } from "../../host/inspect/attach-words.ts";
import type { InspectAddress } from "../../host/inspect/door.ts";
import { findPlugin } from "../../discovery/manifest.ts";
import type { CoreHost } from "../../host/host.ts";
import type { ManualClock } from "../../host/manual-clock.ts";
import { openHostWith } from "../open-host.ts";
import type { Host } from "../../host/host-api.ts";
import type { PluginSpec } from "../../discovery/plugin-spec.ts";
import { Coverage, lcov, v8Coverage } from "../../host/inspect/coverage.ts";
import type { InspectSession } from "../../host/inspect/session.ts";
import { contextFor } from "../../host/run/absent-context.ts";
import { fuzz } from "./fuzz.ts";
import type { FuzzOptions, FuzzReport } from "./fuzz.ts";
import { HarnessApprovals, HarnessSessions } from "./gateway.ts";
import { HarnessKv } from "./kv.ts";
import { HarnessLog } from "./log.ts";
import type { HarnessLine } from "./log.ts";
import { Mistakes } from "./mistakes.ts";
import { HarnessNetwork } from "./network.ts";
import { clockOf, seedsOf } from "./options.ts";
import type { HarnessOptions } from "./options.ts";
import type { HarnessRequest, HarnessServer } from "./network.ts";
import { silentLogger } from "../../host/report/silent-logger.ts";

/** A file of the plugin: how often each line with code was run, by its number. */
export interface HarnessCoverage {
  readonly file: string;
  readonly lines: Readonly<Record<number, number>>;
}

/** The plugin did not load. `stack` is the plugin's own, in the author's files. */
export class PluginLoadError extends Error {
  override readonly name = "PluginLoadError";
  readonly code: ErrorCode;
  /** file:line:column in the author's source. */
  readonly at: string | undefined;
  readonly fix: string;

  constructor({ code, message, at, stack }: CallError) {
    super(at === undefined ? message : `${message} (${at})`);
    this.code = code;
    this.at = at;
    this.fix = ERRORS[code].fix;
    if (stack !== undefined) this.stack = `${this.name}: ${this.message}\n${stack.split("\n").slice(1).join("\n")}`;
  }
}

/** Rejects with a `PluginLoadError` when the plugin does not load. Close it, or declare it with `await using`. */
export async function createHarness(options: HarnessOptions): Promise<Harness> {
  const { plugin } = options;
  const id = typeof plugin === "string" ? (await findPlugin(plugin)).manifest.id : plugin.id;
  const mistakes = new Mistakes();
  const parts = {
    sessions: new HarnessSessions(),
    approvals: new HarnessApprovals(mistakes),
    network: new HarnessNetwork(mistakes),
    log: new HarnessLog(),
    mistakes,
    clock: clockOf(options.clock),
  };
  let address: InspectAddress | undefined;
  const coverage = options.coverage ? new Coverage() : undefined;
  try {
    // If the plugin does not load, that is what is reported.
    coverage?.start().catch(() => {});
    const host = await open(options, parts, id, coverage?.session, (opened) => {
      address = opened;
      process.stderr.write(`${attachWords(opened, options.inspect === "break").join("\n")}\n`);
    });
    parts.log.follow(host.id, id);
    const harness = new Harness(id, host, parts, address, coverage);
    const { status, error, diagnostics } = harness.inspect();
    if (status === "ready" && options.kv === undefined) return harness;
    // Also says when the store did not take its first entries.
    if (status === "ready")
      return await host.entries(id).then(
        () => harness,
        (failure) => harness.close().then(() => Promise.reject(failure as Error)),
      );
    await harness.close();
    const code = "ERR_PLUGIN_LOAD";
    throw new PluginLoadError(error ?? { code, message: errorMessage(code, { detail: diagnostics.join("; ") || `it is ${status}` }) });
  } catch (error) {
    parts.log.close();
    throw error;
  }
}

interface Parts {
  readonly sessions: HarnessSessions;
  readonly approvals: HarnessApprovals;
  readonly network: HarnessNetwork;
  readonly log: HarnessLog;
  readonly mistakes: Mistakes;
  /** Undefined: time is real. */
  readonly clock: ManualClock | undefined;
}

function open(
  options: HarnessOptions,
  { sessions, approvals, network, clock }: Parts,
  id: string,
  session: InspectSession | undefined,
  listening: (address: InspectAddress) => void,
): Promise<CoreHost> {
  const {
    plugin,
    isolation = "thread",
    settings = {},
    gateway,
    logger = silentLogger,
    inspect = false,
    coverage: _,
    clock: _clock,
    kv,
    ...own
  } = options;
  const spec = { ...(typeof plugin === "string" ? { path: plugin } : plugin), ...own } as PluginSpec;
  return openHostWith(
    {
      isolation,
      lanes: 1,
      // `createHarness` reports why it did not load, with the author's file and line.
      allowFailed: true,
      // A test needs no warm spare process.
      config: { ...settings, sandbox: { spare: false, ...settings.sandbox } },
      plugins: [spec],
      ...(session && { inspect: { plugin: id, break: true } }),
      ...(inspect !== false && { inspect: { plugin: id, break: inspect === "break", listening } }),
      gateway: {
        getSession: async (key) => sessions.get(key),
        patchSession: async (patch) => ({ sessionEntry: sessions.patch(patch) }),
        requestApproval: (question) => approvals.ask(question),
        ...gateway,
      },
      logger,
    },
    {
      network,
      isBare: true,
      ...(session && { inspectSession: session }),
      ...(clock && { clock }),
      ...(kv && { kvSeeds: new Map([[id, seedsOf(kv)]]) }),
    },
  );
}

export class Harness implements AsyncDisposable {
  /** The id of the plugin. */
  readonly id: string;
  /** The host itself, for everything else: `reload`, `runSync`, `on` … */
  readonly host: Host;
  readonly #host: CoreHost;
  /** Where a debugger connects; undefined without the option `inspect`. */
  readonly debugger: InspectAddress | undefined;
  readonly #parts: Parts;
  /** The plugin's entries: what `api.kv` has stored. */
  readonly kv: HarnessKv;
  readonly #coverage: Coverage | undefined;
  #isClosed = false;

  constructor(id: string, host: CoreHost, parts: Parts, address: InspectAddress | undefined, coverage?: Coverage) {
    this.id = id;
    this.#coverage = coverage;
    this.debugger = address;
    this.host = host;
    this.#host = host;
    this.#parts = parts;
    this.kv = new HarnessKv(() => host.entries(id));
  }

  /** Runs a hook, as the gateway does. Then `logs` has what the handlers logged until they answered. */
  async run<N extends HookName>(hook: N, event: EventOf<Catalog[N]>, ctx?: ContextOf<Catalog[N]>): Promise<Outcome<ResultOf<Catalog[N]>>> {
    return this.#told(hook, this.host.run(hook, event, ctx));
  }

  /** Emits an event. A gateway does not wait for its observers; a test can. */
  async emit<N extends NamesOfKind<Catalog, "observe">>(
    hook: N,
    event: EventOf<Catalog[N]>,
    ctx?: ContextOf<Catalog[N]>,
  ): Promise<Outcome> {
    return this.#told(hook, this.host.run(hook, event, ctx));
  }

  /** Calls a tool, a command or a gateway method that the plugin has declared. */
  async call(target: FunctionTarget, argument?: unknown, options?: FunctionCallOptions): Promise<FunctionOutcome> {
    return this.#sound(this.host.call(target, argument, options));
  }

  /**
   * Runs the hook with events that are made of its schema, and reports the smallest one that makes the plugin throw or overrun. The
   * same seed gives the same events. Rejects if the plugin was called with none of them.
   */
  async fuzz(hook: HookName, options: FuzzOptions = {}): Promise<FuzzReport> {
    const known: AnyHook = CATALOG[hook];
    const { hooks } = this.inspect();
    if (!hooks.some((one) => one.hook === hook))
      throw new Error(
        `${this.id} does not listen to ${hook}: fuzz one of ${[...new Set(hooks.map((one) => one.hook))].join(", ") || "no hooks"}`,
      );
    return fuzz(
      known,
      async (event) => {
        const outcome = await this.#sound(this.#host.run(hook, event as never, contextFor(known, event) as never));
        // What a plugin did with one event is no reason to leave it out of the next.
        if (outcome.calls.some(({ error }) => error)) await this.#host.release(this.id);
        return outcome;
      },
      options,
    );
  }

  /**
   * Moves the time of the option `clock`, and resolves when all is done that was due until then: timers of the plugin and jobs, one after
   * the other.
   */
  async advance(ms: number): Promise<void> {
    await this.#sound(this.#clock.advance(ms));
  }

  /** The time that the plugin sees; only with the option `clock`. */
  get now(): Date {
    return new Date(this.#clock.now());
  }

  /** Which lines of the plugin were run so far, by file; see the option `coverage`. */
  async coverage(): Promise<HarnessCoverage[]> {
    const files = (await this.#coverage?.take(this.id)) ?? [];
    return files.map(({ url, lines }) => ({ file: url.startsWith("file:") ? fileURLToPath(url) : url, lines: Object.fromEntries(lines) }));
  }

  /** The same as lcov, for editors and coverage services. */
  async lcov(): Promise<string> {
    const files = (await this.#coverage?.take(this.id)) ?? [];
    return lcov(files, (url) => (url.startsWith("file:") ? fileURLToPath(url) : url));
  }

  /** What the plugin has logged so far. */
  get logs(): readonly HarnessLine[] {
    return this.#parts.log.lines;
  }

  /** The first log line that matches, as soon as there is one: for what a plugin does after its answer, in timers and jobs. */
  line(pattern: string | RegExp, { timeoutMs = 5_000 }: { readonly timeoutMs?: number } = {}): Promise<HarnessLine> {
    return this.#parts.log.line(pattern, timeoutMs);
  }

  /** The gateway's sessions, in memory. */
  get sessions(): HarnessSessions {
    return this.#parts.sessions;
  }

  /** The gateway's user, who is asked for approvals. */
  get approvals(): HarnessApprovals {
    return this.#parts.approvals;
  }

  /** Answers for a server. The plugin needs its grant all the same. */
  network(origin: string, server: HarnessServer): void {
    this.#parts.network.serve(origin, server);
  }

  /** The requests that the host let out, in order, as the server would have got them; without real ones to servers of this machine. */
  get fetches(): readonly HarnessRequest[] {
    return this.#parts.network.requests;
  }

  /** The operator's report about the plugin: hooks, diagnostics, budgets. */
  inspect(): PluginReport {
    return this.host.inspect(this.id);
  }

  async close(): Promise<void> {
    await this.#writeCoverage();
    await this.host.close();
    this.#parts.log.close();
    this.#parts.mistakes.raise();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  get #clock(): ManualClock {
    const { clock } = this.#parts;
    if (!clock) throw new Error('time is real in this harness: create it with clock: "fake"');
    return clock;
  }

  /** Where c8 and node --experimental-test-coverage look for it, by a name of the form that they read. */
  async #writeCoverage(): Promise<void> {
    const folder = process.env.NODE_V8_COVERAGE;
    if (!this.#coverage || !folder || this.#isClosed) return;
    this.#isClosed = true;
    const text = JSON.stringify(v8Coverage(await this.#coverage.take(this.id)));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `coverage-${process.pid}-${Date.now()}-${Number.parseInt(this.#host.id.slice(1), 16)}.json`), text);
  }

  /** Also prints the calls that failed: a test that expects something else would only say what is missing. */
  async #told<T extends Pick<Outcome, "calls">>(hook: string, work: Promise<T>): Promise<T> {
    const outcome = await this.#sound(work);
    for (const { plugin, error } of outcome.calls)
      if (error)
        process.stderr.write(
          `creel: ${plugin} failed in ${hook}: ${error.message}${error.at === undefined ? "" : ` (${error.at})`}\n  Fix: ${ERRORS[error.code].fix}\n`,
        );
    return outcome;
  }

  async #sound<T>(work: Promise<T>): Promise<T> {
    const done = await work;
    await this.#host.logsArrived();
    this.#parts.mistakes.raise();
    return done;
  }
}

export type { HarnessApprover, HarnessDecision } from "./gateway.ts";
export type { HarnessAnswer, HarnessRequest, HarnessServer } from "./network.ts";
export type { HarnessOptions } from "./options.ts";
export { creelMatchers, expectOutcome, snapshotOf } from "./matchers.ts";
export type { Budget, CreelMatchers, OutcomeExpectation } from "./matchers.ts";
export type { FuzzFailure, FuzzOptions, FuzzReport } from "./fuzz.ts";
export type { HarnessApprovals, HarnessKv, HarnessLine, HarnessSessions };
