/**
 * What `creel doctor` finds out: which walls stand around the sandbox process here, whether a plugin answers from inside them, and whether what it
 * all stands on is as it should be: Node, isolated-vm, the configuration, the state folder, the socket. It changes nothing.
 */
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { openHostWith } from "../../sdk/gateway.ts";
import { stateDirOf } from "../../sdk/config-file.ts";
import { defaultSocket } from "../../sdk/serve-place.ts";
import { openState } from "../../state/state.ts";
import { findWalls } from "../../host/lanes/machine.ts";
import { REQUIRED, wallsWanted } from "../../host/lanes/walls.ts";
import type { Layer, LayerName, WallsWanted } from "../../host/lanes/walls.ts";
import { ok } from "./check.ts";
import type { Check } from "./check.ts";
import { configCheck } from "./config-check.ts";
import { referenceChecks } from "./references.ts";
import { clockCheck, diskCheck, isolatedVmCheck, nodeCheck } from "./runtime.ts";
import { socketChecks } from "./socket-check.ts";
import { folderChecks, lockChecks, storeChecks } from "./state-check.ts";

export interface Findings {
  readonly node: string;
  readonly platform: string;
  /** How Node is started in there. */
  readonly flags: readonly string[];
  /** What the configuration asks for. */
  readonly wanted: WallsWanted;
  readonly layers: readonly Layer[];
  /** Layers without which a sandbox that was taken over reaches the machine. */
  readonly required: readonly LayerName[];
  readonly sandbox: Answered | Silent;
  /** Everything else that was looked at. */
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

const PLUGIN = { id: "doctor", source: `export default (api) => { api.on("message_sending", () => ({ content: "well" })); };` };
const silent = { debug() {}, info() {}, warn() {}, error() {} };

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
  const { layers, flags } = await findWalls(wanted);
  const sandbox = await visit(wishes ?? {});
  const given = subject["state-dir"];
  const dir = given === undefined ? stateDirOf(found.config, base) : resolve(given);
  const { checks: state, manifests, moments } = await stateChecks(dir);
  const checks = [
    nodeCheck(),
    await isolatedVmCheck(),
    ...found.checks,
    ...(await referenceChecks(found, base, manifests)),
    ...state,
    ...(await socketChecks(resolve(subject.socket ?? defaultSocket()))),
    clockCheck(moments),
  ];
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

async function stateChecks(
  dir: string | undefined,
): Promise<{ checks: Check[]; manifests: ReadonlyMap<string, unknown>; moments: number[] }> {
  const none = { manifests: new Map<string, unknown>(), moments: [] };
  if (dir === undefined)
    return { ...none, checks: [ok("state", "no stateDir is set: no plugin can be installed, and nothing survives a restart")] };
  if (!existsSync(dir)) return { ...none, checks: [ok("state", `${dir} is not there yet: the first install makes it`)] };
  const { checks, entries, manifests } = await lockChecks(openState(dir));
  return {
    checks: [...(await folderChecks(dir)), ...checks, ...(await storeChecks(dir)), await diskCheck(dir)],
    // One whose files were changed is one all the same.
    manifests: new Map(entries.map(({ id }) => [id, manifests.get(id)])),
    moments: entries.map(({ accepted }) => Date.parse(accepted.at)),
  };
}

async function visit(sandbox: object): Promise<Answered | Silent> {
  const startedMs = performance.now();
  try {
    // Nothing of the operator's: what is installed may be what is broken.
    await using host = await openHostWith(
      { isolation: "process", lanes: 1, config: { sandbox }, logger: silent, plugins: [PLUGIN] },
      { isBare: true },
    );
    const { result, calls } = await host.run("message_sending", { to: "doctor", content: "how do you feel?" });
    if (result?.content === "well") return { answers: true, startMs: performance.now() - startedMs };
    return { answers: false, error: calls[0]?.error?.message ?? host.inspect(PLUGIN.id).error?.message ?? "it did not answer" };
  } catch (error) {
    return { answers: false, error: (error as Error).message };
  }
}
