/**
 * Examines the installation for `creel doctor`: which walls are on, whether a plugin answers from inside them, and the
 * state of Node, isolated-vm, the configuration, the state folder and the socket. Changes nothing.
 */
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { openHostWith } from "../../sdk/open-host.ts";
import { lockKeyOf, stateDirOf } from "../../discovery/config-file.ts";
import type { PluginBundle } from "../../bundler/bundle.ts";
import type { CreelConfig } from "../../protocol/config/config.ts";
import type { CreelError } from "../../protocol/errors.ts";
import { defaultSocket } from "../../sdk/remote/serve-place.ts";
import { openState } from "../../state/state.ts";
import { findWalls } from "../../host/supervisor/launch/probe.ts";
import { REQUIRED, wallsWanted } from "../../host/supervisor/launch/plan.ts";
import type { Layer, LayerName, WallsWanted } from "../../host/supervisor/launch/plan.ts";
import { broken, ok, warn } from "./check.ts";
import type { Check } from "./check.ts";
import { configCheck } from "./config-check.ts";
import { referenceChecks } from "./references.ts";
import { bundlerChecks, clockCheck, diskCheck, isolatedVmCheck, nodeCheck } from "./runtime.ts";
import { socketChecks } from "./socket-check.ts";
import { folderChecks, lockChecks, storeChecks } from "./state-check.ts";
import { silentLogger } from "../../host/report/silent-logger.ts";

export interface Findings {
  readonly node: string;
  readonly platform: string;
  /** How Node is started in there. */
  readonly flags: readonly string[];
  /** The walls that the configuration requires. */
  readonly wanted: WallsWanted;
  readonly layers: readonly Layer[];
  /** Layers without which a sandbox that was taken over reaches the machine. */
  readonly required: readonly LayerName[];
  readonly sandbox: Answered | Silent;
  /** All other checks. */
  readonly checks: readonly Check[];
  /** All that is required is on, a plugin answers, and nothing is broken. */
  readonly isSound: boolean;
}

/** A plugin answered from inside, so long after the host was asked for. */
interface Answered {
  readonly answers: true;
  readonly startMs: number;
}
interface Silent {
  readonly answers: false;
  readonly error: string;
}

/** As installed plugins are, it is bundled already: the bundler takes as long as all else together. */
const CODE = `module.exports = (api) => { api.on("message_sending", () => ({ content: "well" })); };`;
const BUNDLE: PluginBundle = {
  code: CODE,
  map: `{"version":3,"sources":[],"mappings":""}`,
  bytes: CODE.length,
  digest: "",
  builtins: [],
  readsFiles: false,
  own: "",
};
const PLUGIN = { id: "doctor", source: { bundle: async () => BUNDLE } };

export interface Subject {
  readonly config?: string;
  readonly "state-dir"?: string;
  readonly socket?: string;
}

const DEFAULT = "creel.json";

export async function examine(subject: Subject): Promise<Findings> {
  const named = subject.config ?? (existsSync(DEFAULT) ? DEFAULT : undefined);
  const file = named === undefined ? undefined : resolve(named);
  const found = configCheck(file);
  const base = file === undefined ? process.cwd() : dirname(file);
  const { sandbox: wishes } = found.config;
  const wanted = wallsWanted(wishes);
  const given = subject["state-dir"];
  const dir = given === undefined ? stateDirOf(found.config, base) : resolve(given);
  const [sandbox, { checks: state, manifests, moments }, sockets] = await Promise.all([
    visit(wishes ?? {}),
    // Which folder it is, only the creel.json says.
    dir === undefined && found.checks.some(({ status }) => status === "broken")
      ? { ...NOTHING, checks: [warn("state", "not checked: creel.json does not load", "correct creel.json, then run creel doctor again")] }
      : stateChecks(dir, found.config, base),
    socketChecks(resolve(subject.socket ?? defaultSocket(dir))),
  ]);
  // Known by now, if the host has opened; and a plugin that answers is the best proof of isolated-vm.
  const { layers, flags } = await findWalls(wanted);
  const isolatedVm = await isolatedVmCheck(sandbox.answers);
  const references = await referenceChecks(found, base, manifests);
  const checks = [nodeCheck(), isolatedVm, ...bundlerChecks(), ...found.checks, ...references, ...state, ...sockets, clockCheck(moments)];
  const isWalled = REQUIRED.every((name) => layers.find((layer) => layer.name === name)?.isOn);
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    flags,
    wanted,
    layers,
    required: REQUIRED,
    sandbox,
    checks,
    isSound: isWalled && sandbox.answers && checks.every(({ status }) => status !== "broken"),
  };
}

interface StateFindings {
  readonly checks: Check[];
  readonly manifests: ReadonlyMap<string, unknown>;
  readonly moments: readonly number[];
}
const NOTHING: StateFindings = { checks: [], manifests: new Map(), moments: [] };

async function stateChecks(dir: string | undefined, config: CreelConfig, base: string): Promise<StateFindings> {
  if (dir === undefined)
    return {
      ...NOTHING,
      checks: [
        ok("state", 'nothing is installed here: "creel install" creates the state folder; until then plugins keep no data across restarts'),
      ],
    };
  if (!existsSync(dir)) return { ...NOTHING, checks: [ok("state", `${dir} does not exist yet: the first install creates it`)] };
  const keyed = await lockKeyOf(config, base).catch((error: CreelError) => error);
  if (keyed instanceof Error) return { ...NOTHING, checks: [broken("state", keyed.message, keyed.fix)] };
  const { checks, entries, manifests } = await lockChecks(openState(dir, keyed && { key: keyed }));
  return {
    checks: [...(await folderChecks(dir)), ...checks, ...(await storeChecks(dir)), await diskCheck(dir)],
    // A plugin whose files changed is still installed.
    manifests: new Map(entries.map(({ id }) => [id, manifests.get(id)])),
    moments: entries.map(({ accepted }) => Date.parse(accepted.at)),
  };
}

async function visit(sandbox: object): Promise<Answered | Silent> {
  const startedMs = performance.now();
  try {
    // Loads nothing of the operator's: an installed plugin may be the broken part.
    await using host = await openHostWith(
      { isolation: "process", lanes: 1, config: { sandbox: { ...sandbox, spare: false } }, logger: silentLogger },
      { isBare: true, plugins: [PLUGIN] },
    );
    const { result, calls } = await host.run("message_sending", { to: "doctor", content: "how do you feel?" }, { channelId: "doctor" });
    if (result?.content === "well") return { answers: true, startMs: performance.now() - startedMs };
    return { answers: false, error: calls[0]?.error?.message ?? host.inspect(PLUGIN.id).error?.message ?? "it did not answer" };
  } catch (error) {
    return { answers: false, error: (error as Error).message };
  }
}
