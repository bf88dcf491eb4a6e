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
  $schema: key(z.string(), "For editors: the JSON Schema of this file, `node_modules/creel/docs/creel.schema.json`."),
  plugins: key(
    z.looseObject({
      enabled: key(z.boolean(), "False: no plugin is loaded.", { ...OPENCLAW, default: true }),
      load: key(
        z.looseObject({
          paths: key(z.array(z.string()), "Plugins to load: folders or files, relative to this file.", OPENCLAW),
          lazy: key(
            z.boolean(),
            "False: installed plugins are all loaded when the host opens, instead of when a hook of theirs is first run.",
            { default: true },
          ),
        }),
        "Which plugins there are, beside those that are installed.",
        OPENCLAW,
      ),
      entries: key(z.record(z.string(), pluginEntryConfig), "What the operator says about one plugin, by its id.", OPENCLAW),
    }),
    "The plugins.",
    OPENCLAW,
  ),
  hooks: key(
    z.looseObject({
      failure: key(
        z.record(z.string(), z.enum(["open", "closed"])),
        "What a failing handler means, by hook: `open`, it is skipped; `closed`, the operation is blocked. Default: [hooks.md](hooks.md).",
      ),
      agent: key(
        z.strictObject({
          beforeTurn: key(z.array(turnHookEntry), "Before a turn; may skip it."),
          afterTurn: key(z.array(turnHookEntry), "After a turn."),
          onTurnError: key(z.array(turnHookEntry), "When a turn has failed."),
        }),
        "Scripts around an agent's turns.",
      ),
      internal: key(
        z.looseObject({
          enabled: key(
            z.boolean(),
            "False: no HOOK.md folder is loaded, wherever it was named, and no plugin hears internal events.",
            OPENCLAW,
          ),
          load: key(
            z.looseObject({ extraDirs: key(z.array(z.string()), "Folders of HOOK.md folders.", OPENCLAW) }),
            "Where they are.",
            OPENCLAW,
          ),
          entries: key(
            z.record(z.string(), hookEntryConfig),
            "By hook. Once one is named here, only the named ones of `extraDirs` are loaded.",
            OPENCLAW,
          ),
        }),
        "HOOK.md folders.",
        OPENCLAW,
      ),
    }),
    "What hooks mean, and hooks that are no plugins.",
    OPENCLAW,
  ),
  approvals: key(
    z.looseObject({
      plugin: key(
        z.looseObject({
          allowOnTimeout: key(z.boolean(), 'Lets a plugin\'s `timeoutBehavior: "allow"` run a call that nobody answered for.', {
            default: false,
          }),
        }),
        "Approvals that plugins ask for.",
      ),
    }),
    "What an answer that does not come means.",
  ),
  sandbox: key(
    // Strict: a misspelt key would leave a wall out.
    z.strictObject({
      walls: key(
        z.enum(["auto", "none", "required"]),
        "`auto`: all that work on this machine. `required`: no host without walls around network, files and processes. `none`: a plain child.",
        { default: "auto" },
      ),
      jitless: key(
        z.boolean(),
        "True: V8 compiles nothing to machine code, which removes most of its known exploits, and slows down loops.",
        { default: false },
      ),
      memoryMb: key(z.number().min(128).max(65_536), "Memory of the whole sandbox process, all its plugins together.", {
        default: LIMITS.sandboxMb,
      }),
      spare: key(z.boolean(), "Keep a second process warm for when the first must be replaced? It takes about 60 MB.", { default: true }),
    }),
    "The walls around the sandbox process; `creel doctor` says which stand.",
  ),
  secrets: key(
    z.record(secretName, secretConfig),
    "What the host sends along with plugins' requests, and they never see; a fetch grant names one. [fetch.md](fetch.md#secrets)",
  ),
  limits: key(pluginLimitsConfig, "What holds for every plugin that has no limits of its own."),
  /** The log of what was blocked, failed and used, in the state folder. Strict: a misspelt key would record what nobody wants recorded. */
  audit: z
    .strictObject({
      /** False: nothing is written. */
      enabled: z.boolean().optional(),
      /** `full` (default): with the events that handlers saw and what they returned, cut and without secrets. `none`: without. */
      events: z.enum(["full", "none"]).optional(),
      /** All its files together. */
      maxBytes: z.int().min(LIMITS.auditMinBytes).optional(),
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
