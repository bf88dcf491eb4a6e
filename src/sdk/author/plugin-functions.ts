/** The author's side: what a plugin may declare for its gateway to call. Types only; the shapes are OpenClaw's. */

/** What a tool answers with. `details` is for programs; a model is given `content`. Any other data is passed on as it is. */
export interface ToolResult {
  content: ({ type: "text"; text: string } | { type: "image"; data: string; mimeType: string })[];
  details?: unknown;
}

/** What is known about the place a tool is called in; all of it from the gateway. */
export interface ToolContext<Config = Record<string, unknown>> {
  readonly sessionKey?: string;
  readonly agentId?: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly pluginConfig: Config;
  readonly [field: string]: unknown;
}

export interface PluginTool<Params = never> {
  /** No blanks. The same name in two plugins is the first one's. */
  name: string;
  label?: string;
  description?: string;
  /** JSON Schema of `params`. */
  parameters?: object;
  /** `signal` is aborted when the caller no longer waits; `onUpdate` reports progress to the caller. */
  execute(toolCallId: string, params: Params, signal?: AbortSignal, onUpdate?: (partial: unknown) => void): unknown;
}

/** Makes the tools for the session they are called in. It is also called once while the plugin registers, to learn their names. */
export type PluginToolFactory<Params = never> = (ctx: ToolContext) => PluginTool<Params> | PluginTool<Params>[] | null | undefined;

export interface PluginToolOptions {
  /** Only for agents whose gateway allows it by name. */
  optional?: boolean;
  /** Wall and CPU time for one call. The operator may set another. */
  timeoutMs?: number;
  cpuMs?: number;
}

export interface CommandContext {
  /** What stands after the command. */
  readonly args: string;
  /** The whole line. */
  readonly commandBody: string;
  readonly isAuthorizedSender: boolean;
  readonly channel?: string;
  readonly senderId?: string;
  readonly [field: string]: unknown;
}

export interface PluginCommand {
  name: string;
  description?: string;
  acceptsArgs?: boolean;
  /** Is it only for those whom the gateway knows? The gateway decides by it. */
  requireAuth?: boolean;
  handler(ctx: CommandContext): unknown;
}

/** A method of the gateway's. It answers through `respond`, at once or later. */
export type GatewayMethod = (call: {
  readonly params: never;
  respond(ok: boolean, payload?: unknown, error?: unknown): void;
  readonly [field: string]: unknown;
}) => unknown;

export interface PluginService {
  id: string;
  /** When the host is open, and again whenever the plugin has been loaded again. */
  start(ctx: object): unknown;
  /** Before the plugin goes, if there is time for it. */
  stop?(ctx: object): unknown;
}
