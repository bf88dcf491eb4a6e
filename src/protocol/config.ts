/** `creel.json`: OpenClaw's `plugins.*` keys, so that a block of an openclaw.json can be pasted, plus Creel's own. */
import * as z from "zod";
import { key, OPENCLAW } from "./config-key.ts";
import { fetchGrant } from "./fetch-grant.ts";
import { LIMITS } from "./limits.ts";
import { requestedPermissions } from "./permissions.ts";
import { pluginLimitsConfig } from "./plugin-limits.ts";
import { secretConfig, secretName } from "./secret-config.ts";

const wallMs = z.number().positive().max(LIMITS.maxWallMs);

const cpuMs = z.number().positive().max(LIMITS.maxCpuMs);

const QUOTA = { description: "How much it may hold." };

export const pluginHooksConfig = z.looseObject({
  allowConversationAccess: key(z.boolean(), "True: it may listen to hooks that carry conversations.", { ...OPENCLAW, default: false }),
  allowPromptInjection: key(
    z.boolean(),
    "False: it may not listen to hooks that change prompts. For an installed plugin, what was accepted holds instead of the default.",
    { ...OPENCLAW, default: true },
  ),
  timeoutMs: key(wallMs, "Wall time per call, for every hook of the plugin.", OPENCLAW),
  timeouts: key(z.record(z.string(), wallMs), "Wall time per call, by hook.", OPENCLAW),
  cpuMs: key(cpuMs, "CPU time per call.", { default: LIMITS.cpuMs }),
  budgets: key(
    z.record(
      z.string(),
      z.strictObject({
        timeoutMs: key(wallMs, "Wall time per call, for this hook."),
        cpuMs: key(cpuMs, "CPU time per call, for this hook."),
      }),
    ),
    "Wall and CPU time per call, by hook.",
  ),
});
export type PluginHooksConfig = z.infer<typeof pluginHooksConfig>;

/** What the operator lets a plugin do beyond answering hooks. Nothing, unless it says so. */
export const pluginGrants = z.strictObject({
  session: key(z.array(z.enum(["get", "patch"])), "The gateway's sessions: read entries, change them."),
  fetch: key(z.array(fetchGrant), "Where it may send HTTP requests: origins, or an origin with methods, a path and a secret."),
  kv: key(
    z.union([z.literal(true), z.strictObject({ maxBytes: z.int().positive().meta(QUOTA) })]),
    "A store of its own, that survives restarts where there is a stateDir.",
  ),
  schedule: key(z.literal(true), "Work at a later time."),
  fs: key(
    z.union([z.literal(true), z.strictObject({ maxBytes: z.int().positive().max(LIMITS.volumeMaxBytes).meta(QUOTA) })]),
    "Files of its own, behind Node's `fs`.",
  ),
  env: key(z.array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/)), "Names of variables of the gateway's environment that it may see."),
  clock: key(z.literal("fine"), "An exact clock. With one, a plugin can measure what its neighbours do."),
  wasm: key(z.literal(true), "WebAssembly. Its memory is not counted by the heap limit."),
});
export type Grants = z.infer<typeof pluginGrants>;

export const pluginEntryConfig = z.looseObject({
  enabled: key(z.boolean(), "False: known, not loaded.", { ...OPENCLAW, default: true }),
  config: key(z.record(z.string(), z.unknown()), "What the plugin sees as `api.pluginConfig`.", OPENCLAW),
  env: key(z.record(z.string(), z.string()), "Variables that it sees in `process.env`, with their values.", OPENCLAW),
  hooks: key(pluginHooksConfig, "Which hooks it may listen to, and what a call of one may take.", OPENCLAW),
  grants: key(
    pluginGrants,
    "What it may do beyond answering hooks; for an installed plugin, laid over what was accepted, key by key. [permissions.md](permissions.md)",
  ),
  limits: key(pluginLimitsConfig, "What it may take."),
});

/** A script whose default export is `(ctx) => result`. Strict: a misspelt `filter` would make it run for every agent. */
export const turnHookEntry = z.strictObject({
  script: z.string().min(1).meta({ description: "The file." }),
  filter: key(
    z.strictObject({ agentId: key(z.union([z.string(), z.array(z.string()).min(1)]), "Of these agents. Without it: of all.") }),
    "Which turns.",
  ),
  timeoutMs: key(wallMs, "Wall time per call."),
  enabled: key(z.boolean(), "False: not loaded.", { default: true }),
});
export type TurnHookEntry = z.infer<typeof turnHookEntry>;

/** What an operator says about one HOOK.md folder, by its hookKey. Hooks have keys of their own beside these. */
export const hookEntryConfig = z.looseObject({
  enabled: key(z.boolean(), "False: not loaded.", OPENCLAW),
  env: key(z.record(z.string(), z.string()), "Variables that it sees, with their values.", OPENCLAW),
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
  audit: key(
    // Strict: a misspelt key would record what nobody wants recorded.
    z.strictObject({
      enabled: key(z.boolean(), "False: nothing is written.", { default: true }),
      events: key(
        z.enum(["full", "none"]),
        "`full`: with the events that handlers saw and what they returned, cut, and without the secrets that the host knows. `none`: without.",
        { default: "full" },
      ),
      maxBytes: key(z.int().min(LIMITS.auditMinBytes), "All its files together; the oldest lines are given up.", {
        default: LIMITS.auditBytes,
      }),
    }),
    "The log of what was blocked, failed and used, in `audit/` of the state folder; `creel explain` reads it.",
  ),
  stateDir: key(
    z.string().min(1),
    "Where Creel keeps what must survive a restart, relative to this file: installed plugins, stores, files, jobs, quarantine. CREEL_STATE_DIR overrides it. Without one, nothing survives.",
  ),
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
