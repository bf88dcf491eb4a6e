/**
 * `creel/testing`: the real sandbox in an author's test, with any test runner. The plugin is bundled, loaded and called as a gateway
 * would; what the test stands in for is the gateway's sessions and users, and the servers beyond this machine.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CATALOG } from "../../protocol/catalog.ts";
import type { AnyHook, Catalog, ContextOf, EventOf, HookName, NamesOfKind, ResultOf } from "../../protocol/catalog.ts";
import type { CreelConfig } from "../../protocol/config/config.ts";
import { errorMessage, ERRORS } from "../../protocol/errors.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import type { FunctionOutcome } from "../../protocol/messages/functions.ts";
import type { CallError, Outcome } from "../../protocol/outcome.ts";
import type { FunctionCallOptions, FunctionTarget } from "../../host/functions/function-calls.ts";
import type { PluginReport } from "../../host/report/inspect.ts";
import type { InspectAddress } from "../../host/inspect/door.ts";
import type { Logger } from "../../host/report/log.ts";
import { findPlugin } from "../../discovery/manifest.ts";
import type { CoreHost } from "../../host/host.ts";
import { openHostWith } from "../open-host.ts";
import type { Host } from "../../host/host-api.ts";
import type { PluginSpec } from "../../discovery/plugin-spec.ts";
import type { OpenOptions } from "../options.ts";
import { Coverage, lcov, v8Coverage } from "../../host/inspect/coverage.ts";
import type { InspectSession } from "../../host/inspect/session.ts";
import { sampleContext } from "../../protocol/rules/samples.ts";
import { fuzz } from "./fuzz.ts";
import type { FuzzOptions, FuzzReport } from "./fuzz.ts";
import { HarnessApprovals, HarnessSessions } from "./gateway.ts";
import { HarnessLog } from "./log.ts";
import type { HarnessLine } from "./log.ts";
import { Mistakes } from "./mistakes.ts";
import { HarnessNetwork } from "./network.ts";
import type { HarnessRequest, HarnessServer } from "./network.ts";
import { silentLogger } from "../../host/report/silent-logger.ts";

/** What an operator would set for the plugin. */
type Settings = Pick<PluginSpec, "config" | "permissions" | "grants" | "hooks" | "limits" | "env" | "required">;

export interface HarnessOptions extends Settings {
  /** The plugin's folder or file, such as `import.meta.dirname`; or its source. */
  readonly plugin: string | { readonly id: string; readonly source: string };
  /** `thread` (default) starts sooner. `process` is what gateways use: for plugins that may take their sandbox down. */
  readonly isolation?: "thread" | "process";
  /** What else the gateway's `creel.json` says: `secrets`, `hooks.failure`, `approvals` … */
  readonly settings?: CreelConfig;
  /** Instead of the harness's own sessions and approvals. */
  readonly gateway?: NonNullable<OpenOptions["gateway"]>;
  /** For the log lines of the host. Default: none. */
  readonly logger?: Logger;
  /**
   * `true`: a debugger can attach to the plugin; its address is printed on stderr and in `debugger`. `"break"`: the plugin is loaded only
   * when a debugger has attached, and pauses at its first line. All its budgets but memory are off.
   */
  readonly inspect?: boolean | "break";
  /**
   * `true`: V8 counts which lines of the plugin are run; `coverage()` tells. With NODE_V8_COVERAGE, as c8 sets it, they are written
   * there when the harness closes. All budgets of the plugin but memory are off. Not together with `inspect`.
   */
  readonly coverage?: boolean;
}

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
  };
  let address: InspectAddress | undefined;
  const coverage = options.coverage ? new Coverage() : undefined;
  try {
    // If the plugin does not load, that is what is reported.
    coverage?.start().catch(() => {});
    const host = await open(options, parts, id, coverage?.session, (opened) => {
      address = opened;
      process.stderr.write(`creel: a debugger can attach to ${id}: ${opened.devtools}\n`);
    });
    parts.log.follow(host.id, id);
    const harness = new Harness(id, host, parts, address, coverage);
    const { status, error, diagnostics } = harness.inspect();
    if (status === "ready") return harness;
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
}

function open(
  options: HarnessOptions,
  { sessions, approvals, network }: Parts,
  id: string,
  session: InspectSession | undefined,
  listening: (address: InspectAddress) => void,
): Promise<CoreHost> {
  const { plugin, isolation = "thread", settings = {}, gateway, logger = silentLogger, inspect = false, coverage: _, ...own } = options;
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
    { network, isBare: true, ...(session && { inspectSession: session }) },
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
  readonly #coverage: Coverage | undefined;
  #isClosed = false;

  constructor(id: string, host: CoreHost, parts: Parts, address: InspectAddress | undefined, coverage?: Coverage) {
    this.id = id;
    this.#coverage = coverage;
    this.debugger = address;
    this.host = host;
    this.#host = host;
    this.#parts = parts;
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
   * same seed gives the same events.
   */
  async fuzz(hook: HookName, options: FuzzOptions = {}): Promise<FuzzReport> {
    const known: AnyHook = CATALOG[hook];
    return fuzz(
      known,
      async (event) => {
        const outcome = await this.#sound(this.#host.run(hook, event as never, sampleContext(known) as never));
        // What a plugin did with one event is no reason to leave it out of the next.
        if (outcome.calls.some(({ error }) => error)) await this.#host.release(this.id);
        return outcome;
      },
      options,
    );
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

  /** Where c8 and node --experimental-test-coverage look for it. */
  async #writeCoverage(): Promise<void> {
    const folder = process.env.NODE_V8_COVERAGE;
    if (!this.#coverage || !folder || this.#isClosed) return;
    this.#isClosed = true;
    const text = JSON.stringify(v8Coverage(await this.#coverage.take(this.id)));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `coverage-${process.pid}-${Date.now()}-${this.#host.id}.json`), text);
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
export { creelMatchers, expectOutcome, snapshotOf } from "./matchers.ts";
export type { Budget, CreelMatchers, OutcomeExpectation } from "./matchers.ts";
export type { FuzzFailure, FuzzOptions, FuzzReport } from "./fuzz.ts";
export type { HarnessApprovals, HarnessLine, HarnessSessions };
