/** Trusted side: makes the parts of a host and joins them. Nothing runs yet: lifecycle.ts starts what is wired here. */
import { randomBytes } from "node:crypto";
import type { RecordedChain } from "../protocol/live-report.ts";
import type { HookTable } from "../protocol/catalog.ts";
import { FUNCTION_HOOKS } from "../protocol/messages/functions.ts";
import { PROTOCOL_VERSION } from "../protocol/messages/host-lane.ts";
import type { Hello } from "../protocol/messages/host-lane.ts";
import { chainRule } from "../protocol/rules/chain-rule.ts";
import { pack } from "../transport/frames.ts";
import { Audit, auditSinks } from "./audit/audit.ts";
import { KnownSecrets } from "./audit/known-secrets.ts";
import { Breaker } from "./blame/breaker.ts";
import { Causes } from "./causality/causes.ts";
import { SealedCauses } from "./causality/sealed-causes.ts";
import { RecursionGuard } from "./causality/recursion.ts";
import { Durable } from "./durable/durable.ts";
import { FunctionCalls } from "./functions/function-calls.ts";
import { Functions } from "./functions/functions.ts";
import { updateServices } from "./functions/updates.ts";
import { CallCounts } from "./plugins/call-counts.ts";
import { idleFailures } from "./plugins/diagnostics.ts";
import { PluginServices } from "./plugins/plugin-services.ts";
import type { Plugin } from "./plugins/plugin.ts";
import { Plugins } from "./plugins/plugins.ts";
import { Registry } from "./plugins/registry.ts";
import { unknownApiServices } from "./plugins/unknown-api.ts";
import { Recorder } from "./record/recorder.ts";
import type { HostOptions } from "./host-options.ts";
import { HostEvents } from "./report/events.ts";
import { logFacts } from "./report/log.ts";
import { watchEventLoop } from "./report/host-stats.ts";
import { permissionOf } from "./audit/usage.ts";
import { Measurements } from "./report/measurements.ts";
import { Reporter } from "./report/reporter.ts";
import { chainAfter, chainOf } from "./causality/recorded-chain.ts";
import { connectKeyOf, fetchKeysOf, serviceKeyOf } from "./report/granted.ts";
import { RecentFacts } from "./report/recent-facts.ts";
import { RunHistory } from "./report/run-history.ts";
import { Approvals } from "./run/approvals/approvals.ts";
import type { RunInput } from "./run/run-input.ts";
import { RunDispatcher } from "./run-dispatcher.ts";
import { Connections, connectServices } from "./services/connect/connect.ts";
import { Fetches, fetchServices } from "./services/fetch/fetch.ts";
import { Inspector } from "./inspect/inspector.ts";
import { Volumes, volumeServices } from "./services/files/volumes.ts";
import { Kv, kvServices } from "./services/kv/kv.ts";
import { Schedule, scheduleServices } from "./services/schedule/schedule.ts";
import { Tracing } from "./telemetry/tracing.ts";
import { Services } from "./services/services.ts";
import { agentServices } from "./services/session/agent-turns.ts";
import { Sessions, sessionServices } from "./services/session/session.ts";
import { Supervisor } from "./supervisor/supervisor.ts";
import { LaneMessages } from "./supervisor/lane-messages.ts";
import { SyncLines } from "./supervisor/sync/sync-lines.ts";
import { localStores } from "./stores.ts";

export type HostParts = ReturnType<typeof compose>;

// The parts refer to each other in circles. Each closure below runs only after all of them exist.
// oxlint-disable-next-line typescript/explicit-function-return-type
export function compose(options: HostOptions) {
  const { hooks, failure, gateway, stateDir, logger, secrets, clock } = options;
  const stores = localStores(stateDir, options.sharedKv);
  const id = `h${randomBytes(4).toString("hex")}`;
  const events = new HostEvents(id, (error) => logger.error({ err: error }, "a listener of the host threw"));
  const callCounts = new CallCounts();
  const measurements = new Measurements(events);
  const known = new KnownSecrets(secrets.all(), events, (plugin) => plugins.find(plugin));
  const sinks = options.audit?.enabled === false ? undefined : auditSinks(stores, options.audit ?? {});
  const audit: Audit | undefined =
    sinks && new Audit({ host: id, sinks, logger, events, settings: options.audit ?? {}, secrets: known, callCounts });
  const usage = audit?.usage;
  const recorder =
    stateDir === undefined || !options.record?.enabled
      ? undefined
      : new Recorder({
          host: id,
          stateDir,
          settings: options.record,
          sanitiser: () => known.sanitiser(),
          isHook: (name) => Object.hasOwn(hooks, name),
          logger,
        });
  const registry = new Registry(hooks, options.hasInternal, callCounts, options.durable);
  const functions = new Functions({ callCounts, run: (...call) => runs.callFunction(...call) });
  const functionCalls = new FunctionCalls(functions, logger);
  const pluginServices = new PluginServices(functions, logger, options.duties);
  const { telemetry } = options;
  const tracing = telemetry && new Tracing(telemetry.api, id, telemetry.options, (plugin, index) => functions.nameOf(plugin, index));
  const breaker = new Breaker({
    events,
    file: stores.quarantine(logger),
    quarantine: (plugin) => plugins.quarantine(plugin),
    pause: (plugin, isPaused) => plugins.pause(plugin, isPaused),
  });
  const inspector = options.inspect && new Inspector(options.inspect, options.inspectSession);
  const plugins = new Plugins({
    inspected: options.inspect?.plugin,
    registry,
    functions,
    services: pluginServices,
    events,
    breaker,
    lanes: options.lanes,
    find: (plugin) => options.find(plugin),
    runs: () => supervisor.inputs() as RunInput[],
    lane: (index) => supervisor.lanes[index]!,
    slowLane: () => {
      supervisor.startSlow();
      return supervisor.slow;
    },
    left: (plugin, cell) => {
      inspector?.left(cell);
      services.left(plugin, cell);
    },
  });
  const hello: Hello = { kind: "hello", version: PROTOCOL_VERSION, rules: chainRules(hooks) };
  const greeting = pack(hello, options.guest);
  const supervisor: Supervisor = new Supervisor({
    ...options,
    hasDebugLane: inspector !== undefined,
    greeting: (lane) => [clock ? pack({ ...hello, clockMs: clock.now() }, options.guest) : greeting, ...plugins.openings(lane)],
    message: (lane, message, bodies) => laneMessages.receive(lane, message, bodies),
    cpuMsOf: (lane, cell, isLoad) => plugins.cpuMsOf(lane, cell, isLoad),
    restarted: (why, lanes, cell, isCrash, input) => {
      const lost = lanes.map((lane) => supervisor.lanes[lane]!);
      clock?.lost(lanes);
      const executed = cell === undefined ? undefined : plugins.cells.was(cell)?.plugin;
      events.within(input && executed && chainAfter(input as RunInput, executed.id), () => {
        const culprit = plugins.sandboxDied(lost, why, cell, isCrash);
        const said = culprit ? why : `${why}; which plugin caused it, if any, is not known`;
        events.publish("restart", { why: said, lanes, culprit: culprit?.id });
      });
    },
  });
  const sync = new SyncLines(supervisor, (lane) => plugins.longestTurnMs(lane));
  const causes = new Causes(id, undefined, options.causeKey && new SealedCauses(options.causeKey));
  events.chainNow = () => {
    const chain = causes.current;
    return chain && chainOf(chain);
  };
  const guard = new RecursionGuard(events);
  const sessions = new Sessions({
    gateway,
    causes,
    guard,
    emit: (hook, event) => (durable?.takes(hook) ? void durable.emit(hook, event) : runs.emit(hook, event)),
  });
  const kv = new Kv({ stateDir, causes, logger, shared: stores.kv, seeds: options.kvSeeds, ...(clock && { now: clock.now }) });
  const schedule = new Schedule({
    stores,
    causes,
    logger,
    functions,
    plugins: () => plugins.list(),
    duties: options.duties,
    ...(clock && { clock }),
  });
  events.on("plugin", () => schedule.look());
  events.on("quarantine", () => schedule.look());
  const volumes = new Volumes({
    stores,
    logger,
    refused: (plugin, cell, why) => {
      logger.error({ plugin: plugin.id, detail: why }, "a plugin's files were not written, its cell is loaded again");
      plugin.diagnostics.set("fs", why);
      plugins.renew(plugin, cell, why);
    },
  });
  const fetches = new Fetches({
    secrets,
    network: options.network,
    onMatch: (plugin, url, method, isGranted) => {
      measurements.requested(plugin, isGranted);
      if (isGranted) measurements.used(plugin, "fetch", fetchKeysOf(plugins.find(plugin)?.grants ?? {}, url, method));
      usage?.requested(plugin, url, method, isGranted);
    },
  });
  const connections = new Connections({
    isOffline: (target) => options.network?.answers(new URL(`http://${target}`)) === true,
    onMatch: (plugin, target, isGranted) => {
      if (isGranted) measurements.used(plugin, "connect", [connectKeyOf(plugins.find(plugin)?.grants ?? {}, target)]);
      usage?.connected(plugin, target, isGranted);
    },
  });
  const services = new Services(
    [
      volumeServices(volumes),
      sessionServices(sessions, causes),
      agentServices(gateway, causes),
      fetchServices(fetches, causes, guard, tracing),
      connectServices(connections),
      updateServices(functionCalls.updates),
      unknownApiServices(),
      kvServices(kv),
      scheduleServices(schedule),
    ],
    (plugin, service, message, run) =>
      causes.within(causes.next(run, plugin.id), () => events.publish("refused", { plugin: plugin.id, service, message })),
    (plugin, service) => {
      const permission = permissionOf(service);
      if (permission !== undefined) measurements.used(plugin.id, permission, [serviceKeyOf(plugin.grants, permission)]);
      usage?.used(plugin.id, service);
    },
  );
  clock?.join({ lanes: supervisor.lanes, services, schedule: schedule.progress });
  const chainIn = (plugin: Plugin, run: number): RecordedChain | undefined => {
    if (run === 0) return undefined;
    const remembered = causes.known(run, plugin.id);
    if (remembered) return chainOf(remembered);
    const input = history.input(run);
    return input && chainAfter(input, plugin.id);
  };
  const laneMessages = new LaneMessages({ host: id, plugins, events, services, volumes, measurements, chainOf: chainIn, inspector, clock });
  const approvals = new Approvals({
    ask: gateway.requestApproval,
    allowOnTimeout: options.allowOnTimeout,
    isAnswerable: options.isAnswerable,
    stateDir,
    events,
    logger,
    wayBack: ({ home: { lane, cell } }) => {
      return (handle, cause, argument) => {
        if (!plugins.cells.find(cell)) return false;
        lane.post({ kind: "invoke", cell, handle, cause }, JSON.stringify(argument));
        return true;
      };
    },
  });
  const recent = new RecentFacts(events, () => known.sanitiser());
  const history = new RunHistory({
    events,
    recent,
    sanitiser: () => known.sanitiser(),
    hasEvents: options.audit?.events !== "none",
    inLanes: () => supervisor.inputs() as RunInput[],
    nameOf: (plugin, index) => functions.nameOf(plugin, index),
  });
  const reporter = new Reporter({
    events,
    plugins,
    hooks,
    logger,
    audit,
    measurements,
    history,
    recorder,
    tracing,
    recording: options.recording,
  });
  const runs = new RunDispatcher({
    id,
    hooks,
    failure,
    isStrict: options.isStrict,
    registry,
    plugins,
    breaker,
    causes,
    approvals,
    sync,
    events,
    reporter,
    history,
    logger,
  });
  const durable: Durable | undefined =
    stateDir === undefined || (options.durable.size === 0 && !options.mayBeDurable)
      ? undefined
      : new Durable({
          stateDir,
          hooks,
          durable: options.durable,
          mayBeDurable: options.mayBeDurable,
          runs,
          registry,
          plugins,
          causes,
          events,
          logger,
          relay: options.relay,
        });
  const idle = idleFailures(failure, hooks);
  for (const [hook, diagnostic] of idle) logger.warn({ hook, diagnostic }, "a setting has no effect");
  secrets.publishTo(events);
  logFacts(events, logger);
  watchEventLoop();
  return {
    id,
    hooks,
    events,
    audit,
    recorder,
    measurements,
    callCounts,
    breaker,
    history,
    recent,
    registry,
    functions,
    functionCalls,
    pluginServices,
    plugins,
    supervisor,
    sync,
    causes,
    sessions,
    kv,
    schedule,
    volumes,
    services,
    approvals,
    runs,
    durable,
    tracing,
    inspector,
    clock,
    /** What the operator set in `hooks.failure` without effect, by hook. */
    idle,
  };
}

function chainRules(hooks: HookTable): Hello["rules"] {
  const all = [...Object.values(hooks), ...Object.values(FUNCTION_HOOKS)];
  return Object.fromEntries(all.map((hook) => [hook.name, chainRule(hook)]));
}
