/** A plugin in its own host, called repeatedly. An empty plugin is the reference. */
import { dirname, resolve } from "node:path";
import type { CallInput } from "../call/input.ts";
import { openHostWith } from "../../sdk/open-host.ts";
import type { Host } from "../../host/host-api.ts";
import type { PluginSpec } from "../../discovery/plugin-spec.ts";
import type { PluginReport } from "../../host/report/inspect.ts";
import { rssReader } from "../../os/rss.ts";
import { ERRORS } from "../../protocol/errors.ts";
import type { CreelConfig } from "../../protocol/config/config.ts";
import type { CallError, Outcome } from "../../protocol/outcome.ts";
import { contestant } from "./contestant.ts";
import type { Contestant } from "./contestant.ts";
import { silentLogger } from "../../host/report/silent-logger.ts";

export interface SubjectOptions {
  readonly isolation: "process" | "thread";
  /** From the creel.json. Of its plugins, only the settings of this one apply. */
  readonly config: CreelConfig;
  /** The path of the creel.json. */
  readonly path: string | undefined;
}

/** A call that did not end well ends the measuring of its hook: a quick failure would look like a quick handler. */
export class CallFailed extends Error {
  override readonly name = "CallFailed";
  readonly at: string | undefined;
  readonly fix: string;
  constructor(message: string, fix: string, at?: string) {
    super(message);
    this.fix = fix;
    this.at = at;
  }
}

/** No CPU limit: a measured plugin does nothing but run, which is what the limit detects. */
const LIMITS = { cpuShare: 1 };
/** The sandbox is a child of the programs that fence it in, and far larger than they are. */
const GENERATIONS = [0, 1, 2, 3, 4];

type UntypedRun = (hook: string, event: object, ctx: object | undefined) => Promise<Outcome>;

export class Subject implements AsyncDisposable {
  readonly id: string;
  readonly #host: Host;
  /** Events were checked against their hooks when they were read; that they belong together is lost on the way. */
  readonly #run: UntypedRun;

  static async open(id: string, specs: readonly PluginSpec[], { isolation, config, path }: SubjectOptions): Promise<Subject> {
    const { plugins, sandbox, ...rest } = config;
    const hooks = path === undefined ? { hooks: { allowConversationAccess: true, allowInstallDecisions: true } } : {};
    const host = await openHostWith(
      {
        isolation,
        lanes: 1,
        // The report says which plugins did not load.
        allowFailed: true,
        config: {
          ...rest,
          ...(plugins?.entries && { plugins: { entries: plugins.entries } }),
          sandbox: { ...sandbox, spare: false },
        },
        plugins: specs.map((spec) => ({ ...hooks, limits: LIMITS, ...spec })),
        logger: silentLogger,
      },
      { isBare: true, ...(path !== undefined && { base: dirname(resolve(path)) }) },
    );
    return new Subject(id, host);
  }

  private constructor(id: string, host: Host) {
    this.id = id;
    this.#host = host;
    this.#run = host.run.bind(host) as UntypedRun;
  }

  report(): PluginReport {
    return this.#host.inspect(this.id);
  }

  /** Loads the plugin once more, and gives the milliseconds. Undefined: it did not load. */
  async reloadMs(): Promise<number | undefined> {
    const { status, loadMs } = await this.#host.reload(this.id);
    return status === "ready" ? loadMs : undefined;
  }

  /** Calls of one hook. `told` receives the CPU milliseconds of each call. */
  calls(name: string, { hook, event, ctx }: CallInput, told: (cpuMs: number) => void): Contestant {
    return contestant(name, async () => told(cpuMsOf(await this.#run(hook, event, ctx))));
  }

  /** Megabytes of the sandbox process, as the kernel counts them; undefined where it does not say. */
  memoryMb(): number | undefined {
    const sizes = this.#host.pids().flatMap((pid) => GENERATIONS.map((generation) => rssReader(pid, generation)() ?? 0));
    const most = Math.max(0, ...sizes);
    return most === 0 ? undefined : most / 2 ** 20;
  }

  get isWhole(): boolean {
    return this.#host.plugins().every(({ status }) => status === "ready");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host.close();
  }
}

function cpuMsOf({ calls, hook }: Outcome): number {
  let sum = 0;
  for (const { status, cpuMs, error } of calls) {
    if (status !== "ok") throw failureOf(hook, status, error);
    sum += cpuMs;
  }
  if (calls.length === 0)
    throw new CallFailed(
      "no handler was called for this event",
      `give it an event that its handler accepts: --hook ${hook} --event @event.json`,
    );
  return sum;
}

function failureOf(hook: string, status: string, error: CallError | undefined): CallFailed {
  const own = error?.code === "ERR_CALL_FAILED" || error === undefined;
  const fix = own ? `if it needs a complete event: --hook ${hook} --event @event.json` : ERRORS[error.code].fix;
  return new CallFailed(error?.message ?? `the call ended as "${status}"`, fix, error?.at);
}
