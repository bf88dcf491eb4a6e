/**
 * Trusted side: the part of OpenClaw's plugin API that the bridge uses. Written by hand, because Creel does not depend on OpenClaw;
 * test/openclaw runs it against the real gateway.
 */
import type { IncomingMessage, ServerResponse } from "node:http";

export type Fields = Record<string, unknown>;

/** What OpenClaw's configuration says about one plugin. */
export interface GatewayEntry {
  readonly config?: Fields;
  readonly env?: Record<string, string>;
  readonly hooks?: {
    readonly allowConversationAccess?: boolean;
    readonly allowPromptInjection?: boolean;
    readonly timeoutMs?: number;
    readonly timeouts?: Record<string, number>;
  };
}

export interface GatewayConfig {
  readonly gateway?: {
    readonly port?: number;
    readonly tls?: { readonly enabled?: boolean };
    readonly auth?: { readonly token?: unknown; readonly password?: unknown };
  };
  readonly plugins?: { readonly entries?: Readonly<Record<string, GatewayEntry>> };
}

export interface GatewayLogger {
  debug?(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export interface GatewayTool {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly parameters: Fields;
  execute(toolCallId: string, params: unknown, signal?: AbortSignal, onUpdate?: (update: unknown) => void): Promise<unknown>;
}

export interface MethodRequest {
  readonly params: Fields;
  readonly respond: (ok: boolean, payload?: unknown, error?: unknown) => void;
}

/** Of commander, what a command needs that passes everything on. */
export interface CliProgram {
  command(name: string): CliProgram;
  description(text: string): CliProgram;
  helpOption(isThere: false): CliProgram;
  allowUnknownOption(): CliProgram;
  allowExcessArguments(): CliProgram;
  action(run: (options: unknown, command: { readonly args: readonly string[] }) => Promise<void>): CliProgram;
}

export interface GatewayApi {
  readonly id: string;
  readonly registrationMode: string;
  /** As it is for this registration. During a reload the runtime still has the configuration before. */
  readonly config?: GatewayConfig;
  readonly pluginConfig?: Fields;
  readonly logger: GatewayLogger;
  readonly runtime: {
    readonly config: { current(): GatewayConfig };
    readonly events?: { onAgentEvent(listener: (event: never) => void): () => void };
    readonly agent?: {
      readonly session?: { getSessionEntry(params: { sessionKey: string; readConsistency: "latest" }): Fields | undefined };
    };
  };
  readonly lifecycle?: { onDispose?(dispose: () => void | Promise<void>): unknown };
  on(hook: string, handler: (event: Fields, ctx: Fields) => unknown, options?: Fields): void;
  registerHook(event: string, handler: (event: Fields) => Promise<void>, options: { name: string; description?: string }): void;
  registerTool(factory: (ctx: Fields) => GatewayTool[], options: { names: string[]; optional?: boolean }): void;
  registerCommand(command: Fields & { handler(ctx: Fields): Promise<unknown> }): void;
  registerGatewayMethod(method: string, handler: (request: MethodRequest) => Promise<void>, options?: { scope?: string }): void;
  registerHttpRoute?(route: {
    path: string;
    auth: "gateway" | "plugin";
    match: "exact" | "prefix";
    handler(request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  }): void;
  registerCli?(
    registrar: (ctx: { program: CliProgram }) => void,
    options: { descriptors: { name: string; description: string; hasSubcommands: boolean }[] },
  ): void;
  readonly session?: { readonly workflow?: { enqueueNextTurnInjection?(injection: Fields): Promise<{ enqueued: boolean; id: string }> } };
  readonly agent?: { readonly events?: { emitAgentEvent?(event: Fields): { emitted: boolean; reason?: string } } };
  registerService(service: { id: string; start(): Promise<void>; stop(): Promise<void> }): void;
}

/** `openclaw/plugin-sdk/gateway-runtime`, which only files below a plugin's folder may import: the shim hands it over. */
export interface GatewaySdk {
  readonly GatewayClient: new (options: Fields) => GatewayConnection;
}

export interface GatewayConnection {
  start(): void;
  stop(): void;
  request(method: string, params: unknown, options?: { timeoutMs?: number }): Promise<Fields>;
}
