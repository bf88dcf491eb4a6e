/**
 * Trusted side: a host that runs recorded events without consequences: on a copy of the state folder, without network and secrets,
 * sessions or jobs. The answer to an approval is the recorded one. SECURITY: test/replay/replay.test.ts
 */
import type { CoreHost } from "../host/host.ts";
import type { ApprovalAnswer } from "../host/run/approvals/approvals.ts";
import { silentLogger } from "../host/report/silent-logger.ts";
import { APPROVAL_DECISIONS } from "../protocol/hooks/tool.ts";
import { CreelError } from "../protocol/errors.ts";
import type { CreelConfig } from "../protocol/config/config.ts";
import type { InspectSession } from "../host/inspect/session.ts";
import type { Outcome } from "../protocol/outcome.ts";
import type { RecordedRun } from "../protocol/recording.ts";
import type { PluginSpec } from "../discovery/plugin-spec.ts";
import { openHostWith } from "../sdk/open-host.ts";
import { absentKv } from "./absent-kv.ts";
import { ReplayState } from "./replay-state.ts";
import { revised, revisedEntries } from "./what-if.ts";
import type { WhatIf } from "./what-if.ts";

/** The plugins of a gateway, as they are. */
export interface ReplaySetup {
  readonly config: CreelConfig;
  /** Base of its relative paths. */
  readonly base: string;
  readonly stateDir: string | undefined;
  /** What the gateway names beside the configuration. */
  readonly plugins?: readonly PluginSpec[];
  readonly isolation?: "process" | "thread";
  /** The plugin that a debugger of this process inspects, and its heap, if it is not its own limit. */
  readonly inspect?: { readonly plugin: string; readonly session: InspectSession; readonly heapMb?: number };
}

/** What a run needs to be made again. Without a context, it is made from the event. */
export type ReplayedRun = Pick<RecordedRun, "hook" | "event" | "approval"> & { readonly context?: RecordedRun["context"] | undefined };

export class ReplayHost implements AsyncDisposable {
  readonly #host: CoreHost;
  readonly #state: ReplayState;
  #current: Pick<RecordedRun, "approval"> | undefined;

  static async open(setup: ReplaySetup, whatIf: WhatIf = {}): Promise<ReplayHost> {
    const state = await ReplayState.copyOf(setup.stateDir);
    try {
      let opened: ReplayHost | undefined;
      const sharedKv = absentKv(setup.config);
      const host = await openHostWith(
        {
          isolation: setup.isolation ?? "process",
          lanes: 1,
          allowFailed: true,
          config: replayConfig(setup.config, whatIf),
          plugins: setup.plugins ?? [],
          gateway: { requestApproval: async () => opened?.answer() },
          logger: silentLogger,
          ...(setup.inspect && { inspect: { plugin: setup.inspect.plugin } }),
        },
        {
          base: setup.base,
          stateDir: state.dir,
          isEager: true,
          isReplay: true,
          ...(sharedKv && { sharedKv }),
          ...(setup.inspect && { inspectSession: setup.inspect.session }),
          network: { answers: () => true, answer: () => Promise.reject(new CreelError("ERR_REPLAY_NETWORK")) },
          revise: (found) => {
            const { plugin, heapMb } = setup.inspect ?? {};
            const made = revised(found, whatIf);
            return heapMb !== undefined && found.id === plugin ? { ...made, limits: { ...made.limits, heapMb } } : made;
          },
          ...(whatIf.order && { order: whatIf.order }),
        },
      );
      opened = new ReplayHost(host, state);
      return opened;
    } catch (error) {
      await state[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(host: CoreHost, state: ReplayState) {
    this.#host = host;
    this.#state = state;
  }

  ids(): string[] {
    return this.#host.plugins().map(({ id }) => id);
  }

  /** Plugins that do not serve, with the reason. */
  failures(): { readonly plugin: string; readonly error: string }[] {
    return this.#host.plugins().flatMap(({ id, error }) => (error === undefined ? [] : [{ plugin: id, error: error.message }]));
  }

  /** One run at a time. Rejects if the hook, or its event, is not valid any more. */
  async run(recorded: ReplayedRun): Promise<Outcome> {
    this.#current = recorded;
    const outcome = await this.#host.run(recorded.hook as never, recorded.event as never, recorded.context as never);
    // What fails here for want of a network is no reason to leave a plugin out of the next run.
    for (const { plugin, error } of outcome.calls)
      if (error && this.#host.plugins().some(({ id, circuit }) => id === plugin && circuit.state !== "closed"))
        await this.#host.release(plugin);
    return outcome;
  }

  /** What the user said then; undefined: no user was asked. */
  answer(): ApprovalAnswer {
    return APPROVAL_DECISIONS.find((decision) => decision === this.#current?.approval);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host.close();
    await this.#state[Symbol.asyncDispose]();
  }
}

function replayConfig(config: CreelConfig, whatIf: WhatIf): CreelConfig {
  const { secrets: _, record: __, stateDir: ___, telemetry: ____, ...rest } = config;
  const { durable: _____, ...hooks } = config.hooks ?? {};
  return {
    ...rest,
    hooks,
    plugins: revisedEntries(config, whatIf),
    audit: { enabled: false },
    sandbox: { ...config.sandbox, spare: false },
  };
}
