/**
 * The members of OpenClaw's plugin `api` (2026.9.6), and what becomes of each in a cell. The guest does not read this
 * table; the docs do. A test keeps it true. test/contract/openclaw-api.test.ts
 */

/**
 * `works`; `inert`: a function that does nothing, reported to the operator; `absent`: undefined, reported to the
 * operator.
 */
export type MemberStatus = "works" | "inert" | "absent";

interface Member {
  readonly is: MemberStatus;
  readonly note?: string;
}

const WORKS: Member = { is: "works" };
const GROUP: Member = { is: "works", note: "its members are as their namesakes on `api` itself" };

const RUN_CONTEXT: Member = { is: "works", note: "in the plugin's own cell, for the last 256 runs; needs no permission" };

/** In OpenClaw's order. Creel's own members come last. */
export const API_MEMBERS: Readonly<Record<string, Member>> = {
  id: WORKS,
  name: WORKS,
  version: WORKS,
  description: WORKS,
  source: { is: "works", note: "`/plugin`: the plugin's folder as it sees it" },
  rootDir: { is: "works", note: "`/plugin`" },
  registrationMode: { is: "works", note: "always `full`" },
  config: {
    is: "works",
    note: "the operator's configuration without secrets, paths, variables, grants and other plugins' entries; its own entry is whole",
  },
  pluginConfig: WORKS,
  runtime: {
    is: "works",
    note: "`version`, `config.current`, `config.loadConfig`, `logging.getChildLogger`, `logging.shouldLogVerbose`, `state.resolveStateDir`, `events.onAgentEvent`; other namespaces are absent",
  },
  logger: WORKS,
  session: { is: "works", note: "`get` and `patch`, which are Creel's; `state`, `workflow` and `controls` are groups as below" },
  agent: GROUP,
  runContext: GROUP,
  lifecycle: GROUP,
  registerTool: { is: "works", note: "a tool or a function that makes tools; `host.tools()`, `host.call({ tool })`" },
  registerHook: WORKS,
  registerCommand: { is: "works", note: "`host.commands()`, `host.call({ command })`" },
  registerGatewayMethod: { is: "works", note: "`host.methods()`, `host.call({ method })`" },
  registerHttpRoute: {
    is: "works",
    note: "a handler with Node's request and response; `host.routes()`, `serveRoutes(host)`, `host.call({ route })`. No upgrades",
  },
  registerCli: {
    is: "works",
    note: "the part of commander that plugins use; `host.commandLines()`, `host.call({ cli }, { argv })`",
  },
  registerService: { is: "works", note: "started when the host is open, stopped before the plugin goes; `host.services()`" },
  resolvePath: { is: "works", note: "in the plugin's own file system; `~` is `/home/plugin`" },
  on: { is: "works", note: "a hook that does not exist is reported" },
  registerAgentEventSubscription: {
    is: "works",
    note: "as `runtime.events.onAgentEvent`: the hook `agent:event`, which the gateway emits; needs allowConversationAccess",
  },
  emitAgentEvent: {
    is: "works",
    note: "the gateway's `emitAgentEvent` gets it, with the plugin's id; needs allowConversationAccess",
  },
  enqueueNextTurnInjection: {
    is: "works",
    note: "the gateway's `enqueueInjection` gets it; `enqueued: false` if it has none, or `allowPromptInjection` is false",
  },
  setRunContext: RUN_CONTEXT,
  getRunContext: RUN_CONTEXT,
  clearRunContext: RUN_CONTEXT,
  ...inert(
    "registerHostedMediaResolver registerMcpServerConnectionResolver registerChannel registerSessionCatalog",
    "registerNodeCliFeature registerReload registerNodeHostCommand registerNodeInvokePolicy registerSecurityAuditCollector",
    "registerGatewayDiscoveryService registerCliBackend registerTextTransforms registerConfigMigration registerMigrationProvider",
    "registerAutoEnableProbe registerProvider registerWorkerProvider registerModelCatalogProvider registerEmbeddingProvider",
    "registerSpeechProvider registerRealtimeTranscriptionProvider registerRealtimeVoiceProvider registerMediaUnderstandingProvider",
    "registerTranscriptSourceProvider registerImageGenerationProvider registerVideoGenerationProvider registerMusicGenerationProvider",
    "registerWebFetchProvider registerWebSearchProvider registerInteractiveHandler onConversationBindingResolved registerContextEngine",
    "registerCompactionProvider registerAgentHarness registerCodexAppServerExtensionFactory registerAgentToolResultMiddleware",
    "registerSessionExtension registerTrustedToolPolicy registerToolMetadata registerControlUiDescriptor registerRuntimeLifecycle",
    "registerSessionSchedulerJob registerSessionAction registerDetachedTaskRuntime registerMemoryCapability",
    "registerMemoryPromptSupplement registerMemoryPromptPreparation registerMemoryCorpusSupplement registerMemoryEmbeddingProvider",
    "registerBoardWidgetContentKind registerWidgetPresenter registerGatewayAccessPolicy registerDecisionProvider",
  ),
  ...absent("sendSessionAttachment scheduleSessionTurn unscheduleSessionTurnsByTag"),
  kv: { is: "works", note: "Creel's: the plugin's own store, if it was granted" },
  schedule: { is: "works", note: "Creel's: work at a later time, if it was granted" },
};

function inert(...names: string[]): Record<string, Member> {
  return listed("inert", names);
}

function absent(...names: string[]): Record<string, Member> {
  return listed("absent", names);
}

function listed(is: MemberStatus, lines: readonly string[]): Record<string, Member> {
  return Object.fromEntries(lines.flatMap((line) => line.split(" ")).map((name) => [name, { is }]));
}
