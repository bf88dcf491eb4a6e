/**
 * `creel.json`: OpenClaw's `plugins.*` keys, so that a block of an openclaw.json can be pasted, plus Creel's own keys.
 */
import * as z from "zod";
import { key, OPENCLAW } from "./config-key.ts";
import { pluginGrants } from "./grants.ts";
import { fleetConfig } from "./fleet.ts";
import { LIMITS } from "../limits.ts";
import { permissionKeys } from "./permission-key.ts";
import { requestedPermissions } from "./permissions.ts";
import { pluginLimitsConfig } from "./plugin-limits-config.ts";
import { databaseConfig, lockKeyConfig, secretConfig, secretName } from "./secrets.ts";
import { updatePolicy } from "./update-policy.ts";

const wallMs = z.number().positive().max(LIMITS.call.maxWallMs);

const cpuMs = z.number().positive().max(LIMITS.call.maxCpuMs);

export type { Grants } from "./grants.ts";

export const pluginHooksConfig = z.looseObject({
  allowConversationAccess: key(z.boolean(), "True: it may listen to hooks that carry conversations.", { ...OPENCLAW, default: false }),
  allowPromptInjection: key(
    z.boolean(),
    "False: it may not listen to hooks that change prompts. For an installed plugin, what was accepted holds instead of the default.",
    { ...OPENCLAW, default: true },
  ),
  allowInstallDecisions: key(z.boolean(), "True: it may listen to `before_install`, and so refuse every later installation.", {
    default: false,
  }),
  durable: key(
    z.boolean(),
    "True: events of the observe hooks that it registers with `durable: true` are kept in the state folder until it has handled them. False: they are not, and `creel inspect` does not mention it. [durable-events.md](../guides/durable-events.md)",
  ),
  timeoutMs: key(wallMs, "Wall time per call, for every hook of the plugin.", OPENCLAW),
  timeouts: key(z.record(z.string(), wallMs), "Wall time per call, by hook.", OPENCLAW),
  cpuMs: key(cpuMs, "CPU time per call.", { default: LIMITS.call.cpuMs }),
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

export const pluginEntryConfig = z.looseObject({
  enabled: key(z.boolean(), "False: known, not loaded.", { ...OPENCLAW, default: true }),
  config: key(z.record(z.string(), z.unknown()), "What the plugin sees as `api.pluginConfig`.", OPENCLAW),
  env: key(z.record(z.string(), z.string()), "Variables that it sees in `process.env`, with their values.", OPENCLAW),
  hooks: key(pluginHooksConfig, "Which hooks it may listen to, and what a call of one may take.", OPENCLAW),
  permissions: key(
    permissionKeys,
    "What it may do beyond answering hooks, by permission keys; for an installed plugin, laid over what was accepted, kind by kind. A fetch may name a secret: `fetch:https://api.example.com with WEATHER`. [permissions.md](permissions.md)",
  ),
  grants: key(pluginGrants, "The older form of `permissions`, by kind. Still read; `permissions` counts where both name a kind."),
  limits: key(pluginLimitsConfig, "What it may take."),
  lane: key(
    z.int().min(0),
    "The lane it lives in, from 0. Without it the host chooses: plugins that share a sequential hook live in one lane.",
  ),
  required: key(
    z.boolean(),
    "True: all its hooks fail closed, even if it does not load or is missing. Overrides what was accepted at installation.",
    { default: false },
  ),
  strict: key(z.boolean(), "As `plugins.strict`, for this plugin alone."),
});

export type PluginEntry = z.infer<typeof pluginEntryConfig>;

/**
 * A script whose default export is `(ctx) => result`. Strict: with a misspelt `filter` it would run for every agent.
 */
const turnHookEntry = z.strictObject({
  script: z.string().min(1).meta({ description: "The file." }),
  filter: key(
    z.strictObject({ agentId: key(z.union([z.string(), z.array(z.string()).min(1)]), "Of these agents. Without it: of all.") }),
    "Which turns.",
  ),
  timeoutMs: key(wallMs, "Wall time per call."),
  enabled: key(z.boolean(), "False: not loaded.", { default: true }),
});
export type TurnHookEntry = z.infer<typeof turnHookEntry>;

/** What an operator says about one HOOK.md folder, by its hookKey. Hooks may have further keys of their own. */
const hookEntryConfig = z.looseObject({
  enabled: key(z.boolean(), "False: not loaded.", OPENCLAW),
  env: key(z.record(z.string(), z.string()), "Variables that it sees, with their values.", OPENCLAW),
});

export const creelConfig = z.looseObject({
  $schema: key(z.string(), "For editors: the JSON Schema of this file, `node_modules/creel/docs/reference/creel.schema.json`."),
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
        "Plugins to load beside the installed ones.",
        OPENCLAW,
      ),
      strict: key(
        z.boolean(),
        "True: a plugin that imports a module which the sandbox does not have is refused. Otherwise it loads, and what uses the module fails; `creel inspect` lists it.",
        { default: false },
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
      durable: key(
        z.array(z.string()),
        "Observe hooks whose events are kept in the state folder until each plugin that listens has handled them: at least once, in order per plugin and session. [durable-events.md](../guides/durable-events.md)",
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
            "False: no HOOK.md folder is loaded, wherever it was named, and no plugin gets internal events.",
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
    "How hooks behave, and hooks that are scripts or folders instead of plugins.",
    OPENCLAW,
  ),
  approvals: key(
    z.looseObject({
      plugin: key(
        z.looseObject({
          allowOnTimeout: key(z.boolean(), 'Lets a plugin\'s `timeoutBehavior: "allow"` run a call whose approval got no answer.', {
            default: false,
          }),
          answerable: key(
            z.boolean(),
            "True: a call whose gateway has no user to ask waits for `creel approvals` or the console, until its approval expires. False: it is blocked at once, unless one of them is connected. [approvals.md](../guides/approvals.md)",
            { default: false },
          ),
          compat: key(
            z.enum(["first-wins"]),
            "`first-wins`: as OpenClaw does it, the user is asked about the first request alone; those of other plugins, and what they change afterwards, are dropped. Without it, about all of them.",
          ),
        }),
        "Approvals that plugins request.",
      ),
    }),
    "What the user is asked when plugins request an approval, and what a missing answer means.",
  ),
  sandbox: key(
    // Strict: a misspelt key would leave out a wall.
    z.strictObject({
      walls: key(
        z.enum(["auto", "none", "required"]),
        "`required`: no host without walls around network, files and processes; recommended in production. `auto`: all that work on this machine, and a warning if those are missing. `none`: a plain child, on purpose.",
        { default: "auto" },
      ),
      jitless: key(
        z.boolean(),
        "True: V8 compiles nothing to machine code, which removes most of its known exploits, and slows down loops.",
        { default: false },
      ),
      memoryMb: key(z.number().min(128).max(65_536), "Memory of the whole sandbox process, with all its plugins.", {
        default: LIMITS.sandbox.memoryMb,
      }),
      spare: key(z.boolean(), "Keep a second process warm for when the first must be replaced? It takes about 60 MB.", { default: true }),
    }),
    "The walls around the sandbox process; `creel doctor` says which stand.",
  ),
  secrets: key(
    z.record(secretName, secretConfig),
    "Values that the host adds to plugins' requests and that plugins never see; a fetch grant names one. [fetch.md](../guides/fetch.md#secrets)",
  ),
  limits: key(pluginLimitsConfig, "The limits of every plugin that has none in its entry."),
  audit: key(
    // Strict: a misspelt key would record data that the operator did not want recorded.
    z.strictObject({
      enabled: key(z.boolean(), "False: nothing is written.", { default: true }),
      events: key(
        z.enum(["full", "none"]),
        "`full`: with the events that handlers saw and what they returned, cut, and without the secrets that the host knows. `none`: without.",
        { default: "full" },
      ),
      runs: key(z.enum(["news", "all"]), "`news`: runs that did not simply pass. `all`: every run in which a plugin was called.", {
        default: "news",
      }),
      maxBytes: key(z.int().min(LIMITS.audit.minBytes), "Size of all its files; the oldest lines are dropped.", {
        default: LIMITS.audit.bytes,
      }),
    }),
    "The log of what was blocked, failed and used, in `audit/` of the state folder; `creel explain` reads it.",
  ),
  record: key(
    // Strict: a misspelt key would record data that the operator did not want recorded.
    z.strictObject({
      enabled: z.boolean().meta({ description: "True: whole events are recorded." }),
      hooks: key(z.array(z.string()), "Only runs of these hooks. Without it: of all."),
      maxBytes: key(z.int().min(LIMITS.record.minBytes), "Size of all recordings; the oldest are dropped.", {
        default: LIMITS.record.bytes,
      }),
      maxAgeHours: key(z.number().positive().max(LIMITS.record.maxAgeHours), "Older recordings are dropped.", {
        default: LIMITS.record.ageHours,
      }),
    }),
    "Whole events of runs, without the secrets that the host knows, in `recordings/` of the state folder, for `creel replay` and `creel rerun`. They hold what users and models say: off unless you set it. [replay.md](../guides/replay.md)",
  ),
  telemetry: key(
    z.strictObject({
      enabled: z.boolean().meta({ description: "True: spans are made, if the process has an OpenTelemetry SDK." }),
      propagate: key(z.array(z.string()), "Origins that get a `traceparent` with plugins' requests. Without it: none."),
    }),
    "Spans of runs, calls, approvals and plugins' requests, through `@opentelemetry/api`. [console.md](../guides/console.md#opentelemetry)",
  ),
  kv: key(
    // Strict: with a misspelt key, hosts would not share what the operator thinks they share.
    z.strictObject({
      postgres: databaseConfig.meta({
        description: "The URL of the PostgreSQL database, `postgres://…`; it needs the package `postgres`.",
      }),
      shared: z
        .union([z.literal(true), z.array(z.string()).min(1)])
        .meta({ description: "`true`: the stores of all plugins. A list: of the plugins with these ids." }),
    }),
    "Keeps the stores of plugins (`api.kv`) in a PostgreSQL database that several hosts share, instead of the state folder. [storage.md](../guides/storage.md#one-store-for-many-hosts)",
  ),
  fleet: key(fleetConfig, "How this host, or an operator, joins the NATS servers of a fleet. [fleet.md](../guides/fleet.md)"),
  lockKey: key(
    lockKeyConfig,
    "The key that `creel.lock` is sealed with, kept outside the state folder. With it, only holders of the key can change what is installed; without it, anyone who can write there.",
  ),
  update: key(updatePolicy, "Which updates `creel update` accepts without a person. Without it: none."),
  stateDir: key(
    z.string().min(1),
    "Where Creel keeps what must survive a restart, relative to this file: installed plugins, stores, files, jobs, quarantine. CREEL_STATE_DIR overrides it. Without one, nothing survives.",
  ),
});
export type CreelConfig = z.infer<typeof creelConfig>;

/** The warning when a host is opened with it, and of `creel doctor`. */
export const FIRST_WINS = {
  setting: ["approvals", "plugin", "compat"],
  meaning:
    "approvals.plugin.compat is first-wins: the user is asked about the first request alone, so a plugin of higher priority can keep the request of another from being seen",
  fix: "take the key out, unless the gateway must behave as OpenClaw does",
} as const;

/** `creel.plugin.json`, and the part of `openclaw.plugin.json` that Creel reads. */
export const pluginManifest = z.looseObject({
  id: z.string(),
  name: z.string().optional(),
  version: z.string().optional(),
  description: z.string().optional(),
  main: z.string().optional(),
  /**
   * What it declares to add to a gateway. If this is set, the host refuses tools that are not named here, as OpenClaw
   * does.
   */
  contracts: z.looseObject({ tools: z.array(z.string()).optional() }).optional(),
  /** The hooks it listens to. If its code does not load, they stay shut or are reported as missing. */
  hooks: z.array(z.string().min(1).max(LIMITS.call.nameChars)).max(LIMITS.plugin.handlers).optional(),
  /**
   * Of a creel.plugin.json: the plugin requests that all its hooks fail closed. Takes effect once the operator has
   * accepted it.
   */
  required: z.boolean().optional(),
  /** Of a creel.plugin.json: the permissions it requests, and why. */
  permissions: requestedPermissions.optional(),
});
export type PluginManifest = z.infer<typeof pluginManifest>;
