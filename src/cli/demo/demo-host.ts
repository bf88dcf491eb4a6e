/** A minimal gateway: one host, every hook call timed and recorded, and an approver that answers automatically. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ApprovalQuestion } from "../../host/run/approvals/question.ts";
import type { Catalog, ContextOf, EventOf, HookName, NamesOfKind, ResultOf } from "../../protocol/catalog.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import { openHost } from "../../sdk/open-host.ts";
import type { Host } from "../../host/host-api.ts";
import type { PluginSpec } from "../../discovery/plugin-spec.ts";
import { LANES } from "./script.ts";
import type { Act, HookStep, MessageStep, Step } from "./step.ts";
import { silentLogger } from "../../host/report/silent-logger.ts";

/** Long enough to be seen as a wait, short enough not to be one. */
const APPROVER_MS = 300;
/** A plugin's log lines may arrive a moment after its answer. The demo waits for them with its clock stopped. */
const LATE_LOG_MS = 15;
const ANSWER = "allow-once";
/** Everything the host would log is in the timeline. */

type Extra = { note?: () => string | undefined };

export class DemoHost implements AsyncDisposable {
  readonly #host: Host;
  readonly #openMs: number;
  readonly #startedMs = performance.now();
  readonly #steps: Step[] = [];
  readonly #logs: { plugin: string; text: string }[] = [];
  readonly #replaced: { plugin: string; why: string }[] = [];
  readonly #approvals: Map<string, HookStep["approval"]>;
  #inFlight = 0;
  #stoppedMs = 0;
  tell: (step: Step) => void = () => {};

  static async open(isolation: "process" | "thread", plugins: readonly PluginSpec[]): Promise<DemoHost> {
    const startedMs = performance.now();
    const approvals = new Map<string, HookStep["approval"]>();
    const requestApproval = async ({ runId, title, description, requests }: ApprovalQuestion): Promise<typeof ANSWER> => {
      const askedMs = performance.now();
      await sleep(APPROVER_MS);
      approvals.set(runId, { title, description, requests, answer: ANSWER, waitedMs: performance.now() - askedMs });
      return ANSWER;
    };
    const host = await openHost({
      isolation,
      lanes: LANES,
      allowFailed: true,
      plugins,
      gateway: { requestApproval },
      logger: silentLogger,
    });
    return new DemoHost(host, performance.now() - startedMs, approvals);
  }

  private constructor(host: Host, openMs: number, approvals: Map<string, HookStep["approval"]>) {
    this.#host = host;
    this.#openMs = openMs;
    this.#approvals = approvals;
    host.on("log", ({ plugin, text }) => this.#logs.push({ plugin, text }));
    host.on("replaced", ({ plugin, why }) => this.#replaced.push({ plugin, why }));
  }

  get act(): Act {
    const [openMs, pids, plugins] = [this.#openMs, this.#host.pids(), this.#host.plugins()];
    return { openMs, pids, plugins, steps: [...this.#steps], replaced: [...this.#replaced] };
  }

  /** Whether a plugin was moved away from its quick neighbours. */
  isSlow(plugin: string): boolean {
    return this.#host.inspect(plugin).isSlow;
  }

  say(what: MessageStep["what"], text: string): void {
    this.#record({ kind: "message", atMs: this.#now(), what, text });
  }

  async run<N extends HookName>(
    hook: N,
    event: EventOf<Catalog[N]>,
    ctx: ContextOf<Catalog[N]>,
    extra?: Extra,
  ): Promise<Outcome<ResultOf<Catalog[N]>>> {
    const startedMs = performance.now();
    this.#inFlight += 1;
    const outcome = await this.#host.run(hook, event, ctx);
    this.#inFlight -= 1;
    await this.#over(hook, "run", performance.now() - startedMs, event, outcome, extra);
    return outcome;
  }

  /** A gateway does not wait for the outcome. The demo does, to show it. */
  async emit<N extends NamesOfKind<Catalog, "observe">>(hook: N, event: EventOf<Catalog[N]>, extra?: Extra): Promise<void> {
    if (!this.#host.has(hook)) return this.skip(hook, event);
    const delivered = Promise.withResolvers<{ outcome: Outcome; wallMs: number }>();
    const off = this.#host.on("run", (fact) => fact.outcome.hook === hook && delivered.resolve(fact));
    this.#host.emit(hook, event);
    const { outcome, wallMs } = await delivered.promise;
    off();
    await this.#over(hook, "emit", wallMs, event, outcome, extra);
  }

  async runSync<N extends NamesOfKind<Catalog, "sync">>(hook: N, event: EventOf<Catalog[N]>, ctx: ContextOf<Catalog[N]>): Promise<void> {
    if (!this.#host.has(hook)) return this.skip(hook, event);
    const startedMs = performance.now();
    const outcome = this.#host.runSync(hook, event, ctx);
    await this.#over(hook, "runSync", performance.now() - startedMs, event, outcome);
  }

  skip(hook: HookName, event: object): void {
    const nothing = { wallMs: 0, outcome: undefined, logs: [], approval: undefined, note: undefined };
    this.#record({ kind: "hook", atMs: this.#now(), hook, how: "skipped", event: { ...event }, ...nothing });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host.close();
  }

  async #over(hook: HookName, how: HookStep["how"], wallMs: number, event: object, outcome: Outcome, extra?: Extra): Promise<void> {
    const atMs = this.#now();
    const note = extra?.note?.();
    await this.#lateLogs();
    const called = new Set(outcome.calls.map(({ plugin }) => plugin));
    const logs = this.#logs.filter(({ plugin }) => called.has(plugin));
    for (const log of logs) this.#logs.splice(this.#logs.indexOf(log), 1);
    const approval = this.#approvals.get(outcome.runId);
    this.#record({ kind: "hook", atMs, hook, how, wallMs, event: { ...event }, outcome, logs, approval, note });
  }

  async #lateLogs(): Promise<void> {
    const startedMs = performance.now();
    // The clock stops only while no call is in flight.
    const isIdle = this.#inFlight === 0;
    await sleep(LATE_LOG_MS);
    if (isIdle) this.#stoppedMs += performance.now() - startedMs;
  }

  #now(): number {
    return performance.now() - this.#startedMs - this.#stoppedMs;
  }

  #record(step: Step): void {
    this.#steps.push(step);
    this.tell(step);
  }
}
