/**
 * Hosts for tests: one suite for both isolations, one host shared by the tests of a suite, loggers that
 * are silent or remember, and a way to await a fact instead of sleeping.
 */
import { basename } from "node:path";
import { afterAll, beforeAll, beforeEach, describe } from "vitest";
import { openHost } from "creel";
import { silentLogger } from "../../src/host/report/silent-logger.ts";
import type { Catalog, FactName, Facts, Host, HookTable, Logger, OpenOptions, Outcome, PluginSpec } from "creel";

export { silentLogger as silent };
export { until } from "./until.ts";

export const ISOLATIONS = ["thread", "process"] as const;
export type Isolation = (typeof ISOLATIONS)[number];

/** The same rules, on threads and in a process. */
export function contract(name: string, suite: (isolation: Isolation) => void): void {
  describe.each(ISOLATIONS)(`${name}, %s isolation`, (isolation) => {
    suite(isolation);
  });
}

export interface Line {
  readonly level: keyof Logger;
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

export function recorder(): { readonly logger: Logger; readonly lines: Line[] } {
  const lines: Line[] = [];
  const write = (level: keyof Logger) => (fields: object, message: string) =>
    void lines.push({ level, fields: fields as Line["fields"], message });
  return { lines, logger: { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") } };
}

/** With several lanes the plugins are pinned to them in turn, so that chains cross lanes; see `openUnpinned`. */
export function open<Own extends HookTable = {}>(isolation: Isolation, options: OpenOptions<Own> = {}): Promise<Host<Catalog & Own>> {
  return openUnpinned(isolation, { ...options, config: inTurn(options) });
}

/** The host decides which plugin lives in which lane. */
export function openUnpinned<Own extends HookTable = {}>(
  isolation: Isolation,
  options: OpenOptions<Own> = {},
): Promise<Host<Catalog & Own>> {
  return openHost({ lanes: 1, logger: silentLogger, ...options, config: plain(options.config), isolation });
}

function inTurn({ lanes = 1, plugins = [], config = {} }: OpenOptions<HookTable>): NonNullable<OpenOptions["config"]> {
  if (lanes === 1 || typeof config === "string") return config;
  const given = config.plugins?.entries ?? {};
  const pins = plugins.map((spec, at) => {
    const id = spec.id ?? basename("path" in spec ? spec.path : "", ".js");
    return [id, { lane: at % lanes, ...given[id] }];
  });
  return { ...config, plugins: { ...config.plugins, entries: { ...given, ...Object.fromEntries(pins) } } };
}

const OFFERED: ReadonlySet<string> = new Set(["getSession", "patchSession", "requestApproval"]);

/** What a host is given of a gateway that has more members, for the test to look at. */
export function offered(gateway: NonNullable<OpenOptions["gateway"]>): NonNullable<OpenOptions["gateway"]> {
  return Object.fromEntries(Object.entries(gateway).filter(([name]) => OFFERED.has(name)));
}

/** A spare process per host, and walls that every test file would have to try first, double the time the tests take; those that are about them say so. */
function plain(config: OpenOptions["config"]): NonNullable<OpenOptions["config"]> {
  return typeof config === "string" ? config : { ...config, sandbox: { spare: false, walls: "none", ...config?.sandbox } };
}

/** A host that the tests of the suite share; opened before the first, closed after the last. */
export function sharedHost<Own extends HookTable = {}>(
  isolation: Isolation,
  options: OpenOptions<Own>,
): { readonly host: Host<Catalog & Own> } {
  let host: Host<Catalog & Own> | undefined;
  beforeAll(async () => {
    host = await open(isolation, options);
  });
  afterAll(() => host?.close());
  // What one test did to a plugin's breaker must not be another's beginning.
  beforeEach(async () => {
    for (const { id } of host!.plugins()) await host!.release(id);
  });
  return {
    get host() {
      return host!;
    },
  };
}

/** A plugin whose register function has this body. */
export function plugin(id: string, body: string, more: Partial<PluginSpec> = {}): PluginSpec {
  return { id, source: `export default (api) => { ${body} };`, ...more } as PluginSpec;
}

/** The next fact of a kind that passes the test. Subscribe before causing it. */
export function next<K extends FactName>(
  host: Pick<Host, "on">,
  name: K,
  test: (fact: Facts[K]) => boolean = () => true,
): Promise<Facts[K]> {
  const { promise, resolve } = Promise.withResolvers<Facts[K]>();
  const off = host.on(name, (fact) => {
    if (!test(fact)) return;
    off();
    resolve(fact);
  });
  return promise;
}

/** The next cell that is rebuilt. On the way there nothing worse may happen: a sandbox that is restarted instead is said at once, and why. */
export function replacement(host: Pick<Host, "on">): Promise<Facts["replaced"]> {
  const worse = next(host, "restart").then(({ why }) => {
    throw new Error(`the sandbox was restarted instead: ${why}`);
  });
  const found = Promise.race([next(host, "replaced"), worse]);
  // It may be a while until somebody awaits it.
  found.catch(() => {});
  return found;
}

/** `plugin:status` of every call, in order. */
export function statuses(outcome: Outcome): string[] {
  return outcome.calls.map(({ plugin: id, status }) => `${id}:${status}`);
}
