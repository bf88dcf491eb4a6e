/** What `creel doctor` finds out: which walls stand around the sandbox process here, and whether a plugin answers from inside them. */
import { openHost } from "../../sdk/gateway.ts";
import { readConfig } from "../../sdk/config-file.ts";
import { findWalls } from "../../host/lanes/machine.ts";
import { REQUIRED, wallsWanted } from "../../host/lanes/walls.ts";
import type { Layer, LayerName, WallsWanted } from "../../host/lanes/walls.ts";

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
  /** All that is required is on, and a plugin answers. */
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

export async function examine(path: string | undefined): Promise<Findings> {
  const config = (await readConfig(path)).sandbox;
  const wanted = wallsWanted(config);
  const { layers, flags } = await findWalls(wanted);
  const sandbox = await visit(config ?? {});
  const isWalled = REQUIRED.every((name) => layers.find((layer) => layer.name === name)?.isOn);
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    flags,
    wanted,
    layers,
    required: REQUIRED,
    sandbox,
    isSound: isWalled && sandbox.answers,
  };
}

async function visit(sandbox: object): Promise<Answered | Silent> {
  const startedMs = performance.now();
  try {
    await using host = await openHost({ isolation: "process", lanes: 1, config: { sandbox }, logger: silent, plugins: [PLUGIN] });
    const { result, calls } = await host.run("message_sending", { to: "doctor", content: "how do you feel?" });
    if (result?.content === "well") return { answers: true, startMs: performance.now() - startedMs };
    return { answers: false, error: calls[0]?.error?.message ?? host.inspect(PLUGIN.id).error?.message ?? "it did not answer" };
  } catch (error) {
    return { answers: false, error: (error as Error).message };
  }
}
