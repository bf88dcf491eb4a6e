/** The author's side: types only. `definePlugin` gives its argument back, and the bundler leaves nothing of it. */
import type { AnswerOf, Catalog, ContextOf, EventOf, HookName } from "../../protocol/catalog.ts";
import type { z } from "zod";
import type { GatewayMethod, PluginCommand, PluginService, PluginTool, PluginToolFactory, PluginToolOptions } from "./plugin-functions.ts";
import type { addedContext } from "../../protocol/hooks/contexts.ts";
import type { sessionPatchParams } from "../../protocol/hooks/session.ts";
import type { FieldDocs, InnerDocs } from "./field-docs.ts";
import type { HookDocs, ResultDocs } from "./hook-docs.ts";
import type { OnHook } from "./on-hook.ts";
import type { ExactAnswer } from "./exact-answer.ts";
import type { PluginKv } from "./plugin-kv.ts";
import type { PluginSchedule } from "./plugin-schedule.ts";

/** A session's key and the fields to change. */
export type SessionPatch = z.input<typeof sessionPatchParams>;

type Log = (...values: unknown[]) => void;

/** The fields that a type names, without those that pass through unnamed. */
type NamedKeys<T> = keyof { [K in keyof T as string extends K ? never : K]: true };
/** All of a union at once; of nothing, what changes nothing. */
type AllOf<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void ? I : never;
/**
 * With the comments that editors show. Their own type is `unknown`, so the field's stays as it is. TypeScript 7 shows those of declared
 * properties only: `Pick` would lose them.
 */
type Documented<T> = T & AllOf<FieldDocs[NamedKeys<T> & keyof FieldDocs]> & InnerFields<T>;
/** The same for the fields of its fields, but not of those in lists. */
type InnerFields<T> = { readonly [K in NamedKeys<T> & keyof InnerDocs]?: InnerOf<NonNullable<T[K & keyof T]>, InnerDocs[K]> };
type InnerOf<T, Docs> = AllOf<Docs[NamedKeys<T> & keyof Docs]> & InnerFields<T>;
type DocumentedAnswer<A, Docs> = unknown extends A ? A : A extends object ? A & Docs : A;

export type HookEvent<N extends HookName> = Documented<z.output<Catalog[N]["event"]>>;
/** With what the host adds: `attempt` is 2 when the call is made once more, `delivery` has the id of a durable event. */
export type HookContext<N extends HookName> = Documented<z.output<Catalog[N]["context"]>> & Readonly<z.output<typeof addedContext>>;
export type HookAnswer<N extends HookName> = DocumentedAnswer<AnswerOf<Catalog[N]>, N extends keyof ResultDocs ? ResultDocs[N] : unknown>;

/** The handler of every hook, by name. Handlers of synchronous hooks may not return a promise. */
export type HookHandlers = HookDocs & {
  [N in HookName]: (
    event: HookEvent<N>,
    ctx: HookContext<N>,
  ) => Catalog[N]["kind"] extends "sync" ? HookAnswer<N> : HookAnswer<N> | Promise<HookAnswer<N>>;
};

export interface HandlerOptions {
  /** Higher runs first; 0 if unset. Ties go by registration order. */
  priority?: number;
  /** Wall time for one call. The operator may set another. */
  timeoutMs?: number;
  /** CPU time for one call. The operator may set another. */
  cpuMs?: number;
  registrationId?: string;
  /** before_tool_call: only for these tools. */
  matcher?: string[];
  /** session:patch: call the handler for the plugin's own patches too. */
  reentrant?: boolean;
  /** Observe hooks: asks for each event at least once, with `ctx.delivery`. It takes effect if the operator allows it. */
  durable?: boolean;
}

/** A handler whose result has only fields that the hook has; see exact-answer.ts. `P…`: of a promise. */
export type CheckedHandler<N extends HookName, Names extends PropertyKey, PNames extends PropertyKey> = (
  event: HookEvent<N>,
  ctx: HookContext<N>,
) => Catalog[N]["kind"] extends "sync"
  ? ExactAnswer<HookAnswer<N>, Names>
  : ExactAnswer<HookAnswer<N>, Names> | Promise<ExactAnswer<HookAnswer<N>, PNames>>;

export interface PluginApi<Config = Record<string, unknown>> {
  readonly id: string;
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  /** The plugin's own folder, as it sees it. */
  readonly rootDir: string;
  readonly pluginConfig: Config;
  /** The gateway's configuration, without secrets and without what concerns other plugins. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly logger: { debug: Log; info: Log; warn: Log; error: Log };
  /** Listen to a hook. Only while `register` runs. A result field that the hook does not have is a type error. */
  readonly on: OnHook;
  /** The gateway's sessions, if the operator granted them. A refused patch rejects with an error whose `code` says why. */
  readonly session: {
    get(key: string): Promise<Record<string, unknown> | null>;
    patch(patch: SessionPatch): Promise<Record<string, unknown>>;
  };
  /** A store of the plugin's own, if the operator granted one. */
  readonly kv: PluginKv;
  /** Work at a later time, if the operator granted it. */
  readonly schedule: PluginSchedule;
  /** OpenClaw's way to listen to internal events such as `session:patch`, or to a whole family such as `session`. */
  registerHook(
    events: string | string[],
    handler: (event: never) => unknown,
    options?: HandlerOptions & { name?: string; description?: string },
  ): void;
  /** A tool for agents. */
  registerTool<Params = never>(tool: PluginTool<Params> | PluginToolFactory<Params>, options?: PluginToolOptions): void;
  /** A command for users. */
  registerCommand(command: PluginCommand): void;
  /** A method of the gateway's. */
  registerGatewayMethod(name: string, handler: GatewayMethod, options?: { scope?: string }): void;
  /** Work in the background, which the host starts and stops. */
  registerService(service: PluginService): void;
  /** A path as a user would write it, in the plugin's own file system. */
  resolvePath(path: string): string;
}

export interface PluginDefinition<Config = Record<string, unknown>> {
  id: string;
  name?: string;
  version?: string;
  description?: string;
  register(api: PluginApi<Config>): void | Promise<void>;
}

export function definePlugin<Config = Record<string, unknown>>(plugin: PluginDefinition<Config>): PluginDefinition<Config> {
  return plugin;
}

export type { ContextOf, EventOf, HookName };
export type { JobCall, JobOptions, PluginSchedule, ScheduledJob } from "./plugin-schedule.ts";
export type { KvLifetime, KvPage, KvQuestion, KvValue, PluginKv } from "./plugin-kv.ts";
export type {
  CommandContext,
  GatewayMethod,
  PluginCommand,
  PluginService,
  PluginTool,
  PluginToolFactory,
  PluginToolOptions,
  ToolContext,
  ToolResult,
} from "./plugin-functions.ts";
