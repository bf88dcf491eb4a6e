/** Trusted side: opens and closes the parts of a host, in the order that keeps every plugin's first and last words. */
import { setTimeout as sleep } from "node:timers/promises";
import { LIMITS } from "../protocol/limits.ts";
import type { HostParts } from "./compose.ts";
import type { HostOptions } from "./host-options.ts";
import type { Plugin } from "./plugins/plugin.ts";
import { notServing } from "./plugins/plugins.ts";

/** See `CoreHost.open`. */
export async function openParts(parts: HostParts, found: Promise<readonly Plugin[]>, options: HostOptions): Promise<void> {
  const { supervisor, plugins, pluginServices, schedule } = parts;
  await parts.inspector?.open();
  supervisor.warm();
  const started = supervisor.start();
  // Awaited below; a rejection before that must not raise `unhandledRejection`.
  started.catch(() => {});
  const all = await found;
  const added = all.map((plugin) => plugins.add(plugin));
  for (const adding of added) adding.catch(() => {});
  // Open each plugin as soon as it is bundled: the sandbox loads it while the next one is being bundled.
  for (const [at, plugin] of all.entries()) {
    await added[at];
    plugins.open(plugin);
  }
  await started;
  await plugins.settled();
  await plugins.placement.spread();
  checkUnknown(parts, options);
  openSyncLines(parts);
  pluginServices.open(plugins.list());
  schedule.open();
  await parts.durable?.open();
  logLoaded(parts, options);
}

/** `runSync` has lines of its own; they are opened when the first plugin listens to a sync hook. */
export function openSyncLines({ hooks, runs, sync }: HostParts): void {
  if (Object.values(hooks).some((hook) => hook.kind === "sync" && runs.has(hook.name))) sync.open();
}

/** Lets runs in flight finish, for at most `LIMITS.sandbox.drainMs`, then ends the sandbox. */
export async function closeParts(parts: HostParts): Promise<void> {
  const { runs, schedule, plugins, pluginServices, approvals, supervisor, services, audit, recorder, events, durable } = parts;
  // A plugin that is paused goes on, so that its runs can end.
  parts.inspector?.close();
  parts.clock?.end();
  const drained = runs.close();
  schedule.stop();
  durable?.stop();
  plugins.close();
  if (drained) {
    const patience = new AbortController();
    await Promise.race([drained, sleep(LIMITS.sandbox.drainMs, undefined, { signal: patience.signal }).catch(() => {})]);
    patience.abort();
  }
  await durable?.close();
  await pluginServices.close();
  await approvals.close();
  // The last messages to the plugins must reach them.
  await lanesReached(parts);
  await services.close();
  await supervisor.close();
  await audit?.close();
  await recorder?.close();
  events.close();
}

/** A barrier: resolves when every lane has done what it was sent, and everything it had sent before has arrived. */
export async function lanesReached({ supervisor }: HostParts): Promise<void> {
  await Promise.all(supervisor.lanes.map((lane) => lane.reached()));
}

/** SECURITY: a guard must not be missing in silence when its hooks are not known. test/contract/closed-doors.test.ts */
function checkUnknown({ plugins }: HostParts, { allowsFailed, logger }: HostOptions): void {
  const unknown = plugins.unknown();
  if (unknown.length > 0 && !allowsFailed) throw notServing(unknown);
  for (const { id, error, isRequired } of unknown)
    logger.warn(
      { plugin: id, reason: error?.message },
      isRequired
        ? "a required plugin does not serve and its hooks are not known: every hook is blocked"
        : "a plugin does not serve and its hooks are not known: every run lists it, and nothing is blocked",
    );
}

function logLoaded({ plugins }: HostParts, { logger }: HostOptions): void {
  const all = plugins.list();
  const asleep = all.filter(({ status }) => status === "asleep").length;
  const loaded = all.flatMap(({ id, status }) => (status === "ready" ? id : []));
  if (asleep > 0) logger.info({ loaded, asleep }, "lazy plugins are loaded when one of their hooks is first run");
}
