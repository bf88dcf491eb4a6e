/**
 * Trusted side: what a debugger has set in its session. When the plugin is loaded again, its isolate is another one,
 * with a session that knows nothing: the same messages are sent to it once more. Ids of breakpoints are made of line
 * and script, so the debugger's stay valid.
 */

/** A message of the Chrome DevTools Protocol with a method: a command, or a notification. */
export interface CdpMessage {
  readonly id?: number;
  readonly method: string;
  readonly params?: Record<string, unknown>;
}

/** Settings of which only the last value counts. */
const SETTINGS: ReadonlySet<string> = new Set([
  "Debugger.setPauseOnExceptions",
  "Debugger.setBlackboxPatterns",
  "Debugger.setAsyncCallStackDepth",
  "Debugger.setBreakpointsActive",
  "Debugger.setSkipAllPauses",
  "Runtime.setAsyncCallStackDepth",
  "Runtime.setMaxCallStackSizeToCapture",
  "Runtime.setCustomObjectFormatterEnabled",
  "Profiler.setSamplingInterval",
]);

export class DebuggerState {
  /** Domains, by name, in the order in which they were enabled. */
  readonly #enabled = new Map<string, CdpMessage>();
  readonly #settings = new Map<string, CdpMessage>();
  /** Breakpoints by their ids, and those whose ids are not known yet by the command's id. */
  readonly #breakpoints = new Map<string, CdpMessage>();
  readonly #asked = new Map<number, CdpMessage>();

  /** The debugger sends a command. */
  sent(message: CdpMessage): void {
    const { id, method, params } = message;
    const [domain, name] = method.split(".");
    if (name === "enable") this.#enabled.set(domain!, message);
    else if (name === "disable") this.#disable(domain!);
    else if (SETTINGS.has(method)) this.#settings.set(method, message);
    else if (method === "Debugger.setBreakpointByUrl" && id !== undefined) this.#asked.set(id, message);
    else if (method === "Debugger.removeBreakpoint") this.#breakpoints.delete(String(params?.breakpointId));
  }

  /** The isolate has answered. */
  answered(id: number, result: unknown): void {
    const asked = this.#asked.get(id);
    if (!asked) return;
    this.#asked.delete(id);
    const { breakpointId } = (result ?? {}) as { breakpointId?: unknown };
    if (typeof breakpointId === "string") this.#breakpoints.set(breakpointId, asked);
  }

  /** The command that has set it. */
  breakpoint(id: string): CdpMessage | undefined {
    return this.#breakpoints.get(id);
  }

  /** What a fresh session has to be told, in order. */
  commands(): CdpMessage[] {
    return [...this.#enabled.values(), ...this.#settings.values(), ...this.#breakpoints.values(), ...this.#asked.values()];
  }

  isEnabled(domain: string): boolean {
    return this.#enabled.has(domain);
  }

  #disable(domain: string): void {
    this.#enabled.delete(domain);
    if (domain === "Debugger") this.#breakpoints.clear();
    for (const method of this.#settings.keys()) if (method.startsWith(`${domain}.`)) this.#settings.delete(method);
  }
}
