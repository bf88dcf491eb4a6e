/** The record of the demo: plain data for the timeline and for `--json`. Times are measured milliseconds. */
import type { HookName } from "../../protocol/catalog.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { RequestedApproval } from "../../host/run/approvals/question.ts";
import type { PluginReport } from "../../host/report/inspect.ts";

export interface MessageStep {
  readonly kind: "message";
  readonly atMs: number;
  readonly what: "message in" | "reply out" | "tool runs" | "no tool" | "no reply";
  readonly text: string;
}

export interface HookStep {
  readonly kind: "hook";
  /** When it was over, since the act began. */
  readonly atMs: number;
  readonly hook: HookName;
  /** How the gateway called the hook; `skipped`: `host.has` said that no plugin listens. */
  readonly how: "run" | "emit" | "runSync" | "skipped";
  readonly wallMs: number;
  readonly event: Readonly<Record<string, unknown>>;
  readonly outcome: Outcome | undefined;
  readonly logs: readonly { readonly plugin: string; readonly text: string }[];
  readonly approval:
    | {
        readonly title: string;
        readonly description: string;
        readonly requests: readonly RequestedApproval[];
        readonly answer: string;
        readonly waitedMs: number;
      }
    | undefined;
  /** Something else that was true when it was over. */
  readonly note: string | undefined;
}

export type Step = MessageStep | HookStep;

export interface Act {
  readonly openMs: number;
  readonly pids: readonly number[];
  readonly plugins: readonly PluginReport[];
  readonly steps: readonly Step[];
  /** Cells that were thrown away and rebuilt, by plugin. */
  readonly replaced: readonly { readonly plugin: string; readonly why: string }[];
}

export interface DemoReport {
  readonly creel: string;
  readonly node: string;
  readonly isolation: "process" | "thread";
  readonly turn: Act;
  readonly loop: Act;
  readonly wallMs: number;
  /** False: a plugin did not load. */
  readonly isComplete: boolean;
}

/** Draws the demo while it runs. */
export interface StepListener {
  begin(): void;
  opened(act: "turn" | "loop", facts: Act): void;
  step(step: Step): void;
  end(report: DemoReport): void;
}
