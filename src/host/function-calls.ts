/** Trusted side: the gateway's way to call what plugins have declared. */
import type { FunctionKind, FunctionOutcome } from "../protocol/functions.ts";
import type { Functions } from "./functions.ts";
import type { Logger } from "./log.ts";
import { Updates } from "./services/updates.ts";

/** Which function is called: the one of that name, or the one of that plugin. */
export type FunctionTarget = { readonly plugin?: string } & (
  | { readonly tool: string }
  | { readonly command: string }
  | { readonly method: string }
);

export interface FunctionCallOptions {
  readonly signal?: AbortSignal;
  /** What the function is told about the call beside its argument: `toolCallId`, `sessionKey`, `agentId`, `channel`, `senderId` and the like. Data. */
  readonly ctx?: Readonly<Record<string, unknown>>;
  /** Told what a tool reports while it works. Not trusted: it is whatever the plugin said. */
  readonly onUpdate?: (update: unknown) => void;
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
    const context = { ...ctx, ...(onUpdate && { wantsUpdates: true }) };
    try {
      return await this.#functions.call(target.plugin, kind, name, [argument], { signal, context, began });
    } finally {
      ends?.();
    }
  }

  /** What a listener of the gateway's throws is not the plugin's business. */
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
  return "command" in target ? ["command", target.command] : ["method", target.method];
}
