/** Trusted side: how the gateway calls the functions that plugins have declared. */
import { randomUUID } from "node:crypto";
import type { FunctionKind } from "../../protocol/messages/function-kinds.ts";
import type { FunctionOutcome } from "../../protocol/messages/functions.ts";
import type { Functions } from "./functions.ts";
import type { Logger } from "../report/log.ts";
import { Updates } from "./updates.ts";

/** Which function is called: the one of that name, or the one of that plugin. */
export type FunctionTarget = { readonly plugin?: string } & (
  | { readonly tool: string }
  | { readonly command: string }
  | { readonly method: string }
  // By its path.
  | { readonly route: string }
  | { readonly cli: string }
  // Of its plugin's schedule: it runs now, whenever it is due.
  | { readonly job: string }
);

export interface FunctionCallOptions {
  readonly signal?: AbortSignal;
  /** Data about the call beside its argument: `toolCallId`, `sessionKey`, `agentId`, `channel`, `senderId` and the like. */
  readonly ctx?: Readonly<Record<string, unknown>>;
  /** Called with the progress that a tool reports. Untrusted: the plugin chooses it. */
  readonly onUpdate?: (update: unknown, about?: UpdateAbout) => void;
}

/** About an update that came over a socket. */
export interface UpdateAbout {
  /** How many updates before it were dropped: the tool reported more than the connection takes. */
  readonly dropped: number;
}

export class FunctionCalls {
  readonly updates = new Updates();
  readonly #functions: Functions;
  readonly #logger: Logger;

  constructor(functions: Functions, logger: Logger) {
    this.#functions = functions;
    this.#logger = logger;
  }

  async call(target: FunctionTarget, argument: unknown, { signal, ctx, onUpdate }: FunctionCallOptions): Promise<FunctionOutcome> {
    const [kind, name] = named(target);
    let ends: (() => void) | undefined;
    const began = (run: number, plugin: string): void => {
      if (onUpdate) ends = this.updates.listen(run, plugin, (update) => this.#tell(onUpdate, update));
    };
    // A job gets its data as the text in which the schedule keeps it, and is due now.
    const job = kind === "job" ? { id: name, dueAt: Date.now(), occurrence: randomUUID() } : {};
    const data = kind === "job" ? JSON.stringify(argument ?? null) : argument;
    const context = { ...job, ...ctx, ...(onUpdate && { wantsUpdates: true }) };
    try {
      return await this.#functions.call(target.plugin, kind, name, [data], { signal, context, began });
    } finally {
      ends?.();
    }
  }

  /** An error of the gateway's listener must not reach the plugin. */
  #tell(onUpdate: (update: unknown) => void, update: unknown): void {
    try {
      onUpdate(update);
    } catch (error) {
      this.#logger.error({ err: error }, "a listener of the host threw");
    }
  }
}

function named(target: FunctionTarget): [kind: FunctionKind, name: string] {
  if ("tool" in target) return ["tool", target.tool];
  if ("command" in target) return ["command", target.command];
  if ("method" in target) return ["method", target.method];
  if ("route" in target) return ["route", target.route];
  return "cli" in target ? ["cli", target.cli] : ["job", target.job];
}
