/**
 * Trusted side: a plugin is loaded for the first time, in a sandbox of its own, without a single grant, and thrown away. That tells what it would
 * register, and what it reaches for the moment it may run. SECURITY: test/install/install.test.ts has plugins that try everything.
 */
import { channel } from "node:diagnostics_channel";
import { setTimeout as wait } from "node:timers/promises";
import type { PluginBundle } from "../host/bundle.ts";
import type { Facts } from "../host/events.ts";
import { oneLine } from "../host/guest-error.ts";
import type { PluginReport } from "../host/inspect.ts";
import type { CreelConfig, PluginManifest } from "../protocol/config.ts";
import { LIMITS } from "../protocol/limits.ts";
import { openHostWith } from "../sdk/gateway.ts";

export interface Rehearsal {
  readonly report: PluginReport;
  /** What it wrote. */
  readonly log: readonly string[];
  /** What it asked for in vain. */
  readonly refused: readonly string[];
}

export interface RehearsalOptions {
  readonly isolation: "process" | "thread";
  readonly sandbox: CreelConfig["sandbox"];
  /** The operator's, for this plugin: some register by it. */
  readonly config: Record<string, unknown>;
  /** How long it is watched after it has registered. */
  readonly watchMs: number;
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };
/** For people: a plugin may write without end. */
const MAX_LINES = 20;
const MAX_CHARS = 200;

export async function rehearse(manifest: PluginManifest, bundle: PluginBundle, options: RehearsalOptions): Promise<Rehearsal> {
  const { id, name, version, description, contracts } = manifest;
  const { isolation, sandbox, config, watchMs } = options;
  // Before there is a host to ask: it speaks while it is loaded.
  using log = heard("log");
  using refused = heard("refused");
  await using host = await openHostWith(
    { isolation, lanes: 1, logger: silent, config: { sandbox: { ...sandbox, spare: false } } },
    {
      isBare: true,
      plugins: [
        {
          id,
          name,
          version,
          description,
          contractTools: contracts && (contracts.tools ?? []),
          source: { bundle: async () => bundle },
          config,
          // What it would need is what this is to find out. There is no conversation here to read.
          accepted: { grants: {}, hooks: { allowConversationAccess: true } },
        },
      ],
    },
  );
  // What it began while it registered goes on for a moment.
  await wait(watchMs);
  return {
    report: host.inspect(id),
    log: few(log.of(host.id).map(({ level, text }) => `${level}: ${text}`)),
    refused: few(refused.of(host.id).map(({ message }) => message)),
  };
}

interface Heard<K extends keyof Facts> extends Disposable {
  of(host: string): Facts[K][];
}

/** Channels are shared by the process: whose a fact is, it says itself. */
function heard<K extends keyof Facts>(name: K): Heard<K> {
  const facts: (Facts[K] & { host: string })[] = [];
  const listen = (fact: unknown): void => {
    if (facts.length < LIMITS.rehearsalFacts) facts.push(fact as Facts[K] & { host: string });
  };
  const source = channel(`creel:${name}`);
  source.subscribe(listen);
  return {
    of: (host) => facts.filter((fact) => fact.host === host),
    [Symbol.dispose]: () => source.unsubscribe(listen),
  };
}

function few(lines: readonly string[]): string[] {
  const once = [...new Set(lines.map((line) => oneLine(line, MAX_CHARS)))];
  return once.length > MAX_LINES ? [...once.slice(0, MAX_LINES), `and ${once.length - MAX_LINES} more`] : once;
}
