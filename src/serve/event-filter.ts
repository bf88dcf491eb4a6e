/** Trusted side: the event filter of a subscription. Facts are filtered before they are serialised. */
import type { FactName, Facts } from "../host/report/events.ts";
import type { EventFilter } from "../protocol/serve.ts";

interface About {
  readonly plugins: readonly (string | undefined)[];
  readonly hook?: string | undefined;
  /** The outcome: a call's status, a run's decision, a plugin's status, a breaker's state, or a log level. */
  readonly status?: string | undefined;
}

const ABOUT: { readonly [K in FactName]: (fact: Facts[K]) => About } = {
  begun: ({ plugins, hook }) => ({ plugins, hook }),
  aborted: ({ hook }) => ({ plugins: [], hook }),
  call: ({ hook, call }) => ({ plugins: [call.plugin], hook, status: call.status }),
  run: ({ outcome }) => ({ plugins: outcome.calls.map(({ plugin }) => plugin), hook: outcome.hook, status: outcome.decision }),
  log: ({ plugin, level }) => ({ plugins: [plugin], status: level }),
  plugin: ({ plugin, status }) => ({ plugins: [plugin], status }),
  replaced: ({ plugin }) => ({ plugins: [plugin] }),
  moved: ({ plugin }) => ({ plugins: [plugin] }),
  recursion: ({ plugin, limit }) => ({ plugins: [plugin], status: limit }),
  quarantine: ({ plugin, state }) => ({ plugins: [plugin], status: state }),
  secret: ({ plugin, what }) => ({ plugins: [plugin], status: what }),
  refused: ({ plugin }) => ({ plugins: [plugin] }),
  delivery: ({ plugin, hook, status }) => ({ plugins: [plugin], hook, status }),
  approval: ({ plugins, what, resolution }) => ({ plugins, hook: "before_tool_call", status: resolution ?? what }),
  restart: ({ culprit }) => ({ plugins: [culprit] }),
};

/** The fact must match every given list; a fact without a hook matches no hook. */
export function matchesFilter<K extends FactName>({ plugins, hooks, statuses }: EventFilter, name: K, fact: Facts[K]): boolean {
  const about = ABOUT[name](fact);
  if (plugins && !about.plugins.some((plugin) => plugin !== undefined && plugins.includes(plugin))) return false;
  if (hooks && !(about.hook !== undefined && hooks.includes(about.hook))) return false;
  return !statuses || (about.status !== undefined && statuses.includes(about.status));
}
