/**
 * Trusted side: what a debugger sees of a cell. Creel's own script, its frames and the empty context that V8 makes are
 * left out; the plugin's context has the plugin's name, and its script has a source map. The messages come out of the
 * sandbox: they are parsed as data, and nothing here acts on them beyond that.
 */
import { BOOTSTRAP_SCRIPT, pluginScript } from "../../protocol/guest-surface/scripts.ts";
import type { CdpMessage } from "./debugger-state.ts";

/** As isolated-vm names the context of a cell. */
const CELL_CONTEXT = "<isolated-vm>";
/** Stepping does not stop in Creel's own code. */
const OWN_PATTERN = `^${BOOTSTRAP_SCRIPT}(/|$)`;

interface Frame {
  readonly location?: { readonly scriptId?: string };
  readonly scriptId?: string;
}

interface StackTrace {
  readonly callFrames: readonly Frame[];
  readonly parent?: StackTrace;
}

export class CellView {
  readonly #plugin: string;
  readonly #mapUrl: string | undefined;
  readonly #ownScripts = new Set<string>();
  #context: number | undefined;

  constructor(plugin: string, mapUrl: string | undefined) {
    this.#plugin = plugin;
    this.#mapUrl = mapUrl;
  }

  /** A debugger's command, as the cell gets it. */
  command(message: CdpMessage): CdpMessage {
    const { method, params = {} } = message;
    if (method === "Debugger.setBlackboxPatterns")
      return { ...message, params: { ...params, patterns: [OWN_PATTERN, ...((params.patterns as string[] | undefined) ?? [])] } };
    // The cell has no default context, so an expression needs its number.
    const needsContext = method === "Runtime.evaluate" && params.contextId === undefined && params.uniqueContextId === undefined;
    return needsContext && this.#context !== undefined ? { ...message, params: { ...params, contextId: this.#context } } : message;
  }

  /** A notification of the cell, as the debugger gets it; undefined: it does not. */
  notification(message: CdpMessage): CdpMessage | undefined {
    const params = message.params ?? {};
    switch (message.method) {
      case "Runtime.executionContextCreated":
        return this.#contextCreated(message, params.context as { id: number; name: string });
      case "Debugger.scriptParsed":
      case "Debugger.scriptFailedToParse":
        return this.#script(message, params);
      case "Debugger.paused":
        return { ...message, params: { ...params, ...this.#visible(params) } };
      default:
        return message;
    }
  }

  #contextCreated(message: CdpMessage, context: { id: number; name: string }): CdpMessage | undefined {
    if (context?.name !== CELL_CONTEXT) return undefined;
    this.#context = context.id;
    const shown = { ...context, name: this.#plugin, origin: pluginScript(this.#plugin), auxData: { isDefault: true } };
    return { ...message, params: { context: shown } };
  }

  #script(message: CdpMessage, params: Record<string, unknown>): CdpMessage | undefined {
    const url = String(params.url);
    if (url === BOOTSTRAP_SCRIPT || url.startsWith(`${BOOTSTRAP_SCRIPT}/`)) {
      this.#ownScripts.add(String(params.scriptId));
      return undefined;
    }
    if (url !== pluginScript(this.#plugin) || this.#mapUrl === undefined) return message;
    return { ...message, params: { ...params, sourceMapURL: this.#mapUrl } };
  }

  /** The frames of the author's code. If there is none, the debugger gets all: it must see that the cell is paused. */
  #visible({ callFrames, asyncStackTrace }: Record<string, unknown>): object {
    const frames = (callFrames as Frame[]).filter((frame) => !this.#isOwn(frame));
    return {
      callFrames: frames.length > 0 ? frames : callFrames,
      ...(asyncStackTrace !== undefined && { asyncStackTrace: this.#visibleTrace(asyncStackTrace as StackTrace) }),
    };
  }

  #visibleTrace(trace: StackTrace): StackTrace {
    const callFrames = trace.callFrames.filter((frame) => !this.#isOwn(frame));
    return { ...trace, callFrames, ...(trace.parent && { parent: this.#visibleTrace(trace.parent) }) };
  }

  #isOwn({ location, scriptId }: Frame): boolean {
    return this.#ownScripts.has(location?.scriptId ?? scriptId ?? "");
  }
}
