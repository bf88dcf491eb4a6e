/**
 * The members of OpenClaw's plugin `api` (2026.9.6), and what becomes of each in a cell. The guest makes no use of this table: what it
 * does follows from what it has. It is here for the docs, and a test holds the two together. test/contract/openclaw-api.test.ts
 */

/** `works`; `inert`: a function that does nothing and is remarked upon; `absent`: undefined, and remarked upon. */
export type MemberStatus = "works" | "inert" | "absent";

interface Member {
  readonly is: MemberStatus;
  readonly note?: string;
}

const WORKS: Member = { is: "works" };
const GROUP: Member = { is: "works", note: "its members are as their namesakes on `api` itself" };

/** In OpenClaw's order; those of Creel's own at the end. */
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
    note: "`version`, `config.current`, `config.loadConfig`, `logging.getChildLogger`, `logging.shouldLogVerbose`, `state.resolveStateDir`; other namespaces are absent",
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
  registerService: { is: "works", note: "started when the host is open, stopped before the plugin goes; `host.services()`" },
  resolvePath: { is: "works", note: "in the plugin's own file system; `~` is `/home/plugin`" },
  on: { is: "works", note: "a hook that does not exist is remarked upon" },
  ...inert(
    "registerHttpRoute registerHostedMediaResolver registerMcpServerConnectionResolver registerChannel registerSessionCatalog registerCli",
    "registerNodeCliFeature registerReload registerNodeHostCommand registerNodeInvokePolicy registerSecurityAuditCollector",
    "registerGatewayDiscoveryService registerCliBackend registerTextTransforms registerConfigMigration registerMigrationProvider",
    "registerAutoEnableProbe registerProvider registerWorkerProvider registerModelCatalogProvider registerEmbeddingProvider",
    "registerSpeechProvider registerRealtimeTranscriptionProvider registerRealtimeVoiceProvider registerMediaUnderstandingProvider",
    "registerTranscriptSourceProvider registerImageGenerationProvider registerVideoGenerationProvider registerMusicGenerationProvider",
    "registerWebFetchProvider registerWebSearchProvider registerInteractiveHandler onConversationBindingResolved registerContextEngine",
    "registerCompactionProvider registerAgentHarness registerCodexAppServerExtensionFactory registerAgentToolResultMiddleware",
    "registerSessionExtension registerTrustedToolPolicy registerToolMetadata registerControlUiDescriptor registerRuntimeLifecycle",
    "registerAgentEventSubscription registerSessionSchedulerJob registerSessionAction registerDetachedTaskRuntime registerMemoryCapability",
    "registerMemoryPromptSupplement registerMemoryPromptPreparation registerMemoryCorpusSupplement registerMemoryEmbeddingProvider",
    "registerBoardWidgetContentKind registerWidgetPresenter",
  ),
  ...absent(
    "enqueueNextTurnInjection emitAgentEvent setRunContext getRunContext clearRunContext sendSessionAttachment scheduleSessionTurn",
    "unscheduleSessionTurnsByTag",
  ),
  kv: { is: "works", note: "Creel's: a store of the plugin's own, if it was granted" },
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
