/** Trusted side: which facts a subscription is told. Filtered here, so that what nobody wants is not even written as JSON. */
import type { FactName, Facts } from "../host/events.ts";
import type { Wanted } from "../protocol/serve.ts";

interface About {
  readonly plugins: readonly (string | undefined)[];
  readonly hook?: string | undefined;
  /** What it came to: a call's status, a run's decision, a plugin's status, a breaker's state, a line's level. */
  readonly status?: string | undefined;
}

const ABOUT: { readonly [K in FactName]: (fact: Facts[K]) => About } = {
  call: ({ hook, call }) => ({ plugins: [call.plugin], hook, status: call.status }),
  run: ({ outcome }) => ({ plugins: outcome.calls.map(({ plugin }) => plugin), hook: outcome.hook, status: outcome.decision }),
  log: ({ plugin, level }) => ({ plugins: [plugin], status: level }),
  plugin: ({ plugin, status }) => ({ plugins: [plugin], status }),
  replaced: ({ plugin }) => ({ plugins: [plugin] }),
  recursion: ({ plugin, limit }) => ({ plugins: [plugin], status: limit }),
  quarantine: ({ plugin, state }) => ({ plugins: [plugin], status: state }),
  secret: ({ plugin, what }) => ({ plugins: [plugin], status: what }),
  refused: ({ plugin }) => ({ plugins: [plugin] }),
  restart: ({ culprit }) => ({ plugins: [culprit] }),
};

/** Of each list that is given the fact must have one; a fact that has no hook is none of the wanted hooks'. */
export function isWanted<K extends FactName>({ plugins, hooks, statuses }: Wanted, name: K, fact: Facts[K]): boolean {
  const about = ABOUT[name](fact);
  if (plugins && !about.plugins.some((plugin) => plugin !== undefined && plugins.includes(plugin))) return false;
  if (hooks && !(about.hook !== undefined && hooks.includes(about.hook))) return false;
  return !statuses || (about.status !== undefined && statuses.includes(about.status));
}
