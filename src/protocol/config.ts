/** `creel.json`: OpenClaw's `plugins.*` keys, so that a block of an openclaw.json can be pasted, plus Creel's own. */
import * as z from "zod";
import { fetchGrant } from "./fetch-grant.ts";
import { LIMITS } from "./limits.ts";
import { requestedPermissions } from "./permissions.ts";
import { pluginLimitsConfig } from "./plugin-limits.ts";
import { secretConfig, secretName } from "./secret-config.ts";

const wallMs = z.number().positive().max(LIMITS.maxWallMs);

const cpuMs = z.number().positive().max(LIMITS.maxCpuMs);

export const pluginHooksConfig = z.looseObject({
  allowConversationAccess: z.boolean().optional(),
  allowPromptInjection: z.boolean().optional(),
  /** Wall time per call, for every hook of the plugin. */
  timeoutMs: wallMs.optional(),
  /** Wall time per call, per hook. */
  timeouts: z.record(z.string(), wallMs).optional(),
  /** CPU time per call. */
  cpuMs: cpuMs.optional(),
  /** Wall and CPU time per call, per hook. */
  budgets: z.record(z.string(), z.strictObject({ timeoutMs: wallMs.optional(), cpuMs: cpuMs.optional() })).optional(),
});
export type PluginHooksConfig = z.infer<typeof pluginHooksConfig>;

/** What the operator lets a plugin do beyond answering hooks. Nothing, unless it says so. */
export const pluginGrants = z.strictObject({
  session: z.array(z.enum(["get", "patch"])).optional(),
  /** Where it may send HTTP requests. */
  fetch: z.array(fetchGrant).optional(),
  /** A store of its own, that survives restarts where there is a stateDir. */
  kv: z.union([z.literal(true), z.strictObject({ maxBytes: z.int().positive() })]).optional(),
  /** Work at a later time. */
  schedule: z.literal(true).optional(),
  /** A folder of its own to write to, behind Node's `fs`. */
  fs: z.union([z.literal(true), z.strictObject({ maxBytes: z.int().positive().max(LIMITS.volumeMaxBytes) })]).optional(),
  /** Names of variables of the gateway's environment that it may see. */
  env: z.array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/)).optional(),
  /** An exact clock. With one, a plugin can measure what its neighbours do. */
  clock: z.literal("fine").optional(),
  /** WebAssembly. Its memory is not counted by the heap limit. */
  wasm: z.literal(true).optional(),
});
export type Grants = z.infer<typeof pluginGrants>;

export const pluginEntryConfig = z.looseObject({
  enabled: z.boolean().optional(),
  config: z.record(z.string(), z.unknown()).optional(),
  /** Variables that it sees in `process.env`, with their values; OpenClaw's key. */
  env: z.record(z.string(), z.string()).optional(),
  hooks: pluginHooksConfig.optional(),
  grants: pluginGrants.optional(),
  limits: pluginLimitsConfig.optional(),
});

/** A script whose default export is `(ctx) => result`. Strict: a misspelt `filter` would make it run for every agent. */
export const turnHookEntry = z.strictObject({
  script: z.string().min(1),
  filter: z.strictObject({ agentId: z.union([z.string(), z.array(z.string()).min(1)]).optional() }).optional(),
  /** Wall time per call. */
  timeoutMs: wallMs.optional(),
  enabled: z.boolean().optional(),
});
export type TurnHookEntry = z.infer<typeof turnHookEntry>;

/** What an operator says about one HOOK.md folder, by its hookKey. Hooks have keys of their own beside these. */
export const hookEntryConfig = z.looseObject({
  enabled: z.boolean().optional(),
  env: z.record(z.string(), z.string()).optional(),
});

export const creelConfig = z.looseObject({
  plugins: z
    .looseObject({
      enabled: z.boolean().optional(),
      load: z
        .looseObject({
          paths: z.array(z.string()).optional(),
          /** False: installed plugins are all loaded when the host opens, instead of when a hook of theirs is first run. */
          lazy: z.boolean().optional(),
        })
        .optional(),
      entries: z.record(z.string(), pluginEntryConfig).optional(),
    })
    .optional(),
  hooks: z
    .looseObject({
      /** Overrides what a failing handler means, per hook. */
      failure: z.record(z.string(), z.enum(["open", "closed"])).optional(),
      /** Scripts around an agent's turns. */
      agent: z
        .strictObject({
          beforeTurn: z.array(turnHookEntry).optional(),
          afterTurn: z.array(turnHookEntry).optional(),
          onTurnError: z.array(turnHookEntry).optional(),
        })
        .optional(),
      /** HOOK.md folders, with OpenClaw's keys. */
      internal: z
        .looseObject({
          /** False: no HOOK.md folder is loaded, wherever it was named, and no plugin hears internal events. */
          enabled: z.boolean().optional(),
          load: z.looseObject({ extraDirs: z.array(z.string()).optional() }).optional(),
          /** Once one hook is named here, only the named ones of `extraDirs` are loaded. */
          entries: z.record(z.string(), hookEntryConfig).optional(),
        })
        .optional(),
    })
    .optional(),
  approvals: z
    .looseObject({
      /** Lets a plugin's `timeoutBehavior: "allow"` run a call that nobody answered for. */
      plugin: z.looseObject({ allowOnTimeout: z.boolean().optional() }).optional(),
    })
    .optional(),
  /** The walls around the sandbox process. Strict: a misspelt key would leave one out. */
  sandbox: z
    .strictObject({
      /** `auto`: all that work on this machine. `required`: refuses to open a host without a wall around network and files. `none`: a plain child. */
      walls: z.enum(["auto", "none", "required"]).optional(),
      /** True: V8 compiles nothing to machine code, which removes most of its known exploits, and slows down loops. */
      jitless: z.boolean().optional(),
      /** Memory of the whole process, all its plugins together. */
      memoryMb: z.number().min(128).max(65_536).optional(),
      /** Keep a second process warm for when the first must be replaced? It takes about 60 MB. Default true. */
      spare: z.boolean().optional(),
    })
    .optional(),
  /** What plugins may have sent along with their requests without ever seeing it, by name; a fetch grant names one. */
  secrets: z.record(secretName, secretConfig).optional(),
  /** What holds for every plugin that has no limits of its own. */
  limits: pluginLimitsConfig.optional(),
  /** Where Creel keeps what must survive a restart; relative to this file. Without it, nothing does. */
  stateDir: z.string().min(1).optional(),
});
export type CreelConfig = z.infer<typeof creelConfig>;

/** `creel.plugin.json`, and what Creel reads of an `openclaw.plugin.json`. */
export const pluginManifest = z.looseObject({
  id: z.string(),
  name: z.string().optional(),
  version: z.string().optional(),
  description: z.string().optional(),
  main: z.string().optional(),
  /** What it says it adds to a gateway. Where this is written, a tool that is not named here is refused, as OpenClaw does. */
  contracts: z.looseObject({ tools: z.array(z.string()).optional() }).optional(),
  /** Of a creel.plugin.json: what it asks to be granted, and why. */
  permissions: requestedPermissions.optional(),
});
export type PluginManifest = z.infer<typeof pluginManifest>;
