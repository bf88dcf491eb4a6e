/** Where the commands about installed plugins look: which `creel.json`, which state folder, and whose word that is. */
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { editConfig } from "../../install/config-edit.ts";
import type { CreelConfig } from "../../protocol/config.ts";
import { CreelError } from "../../protocol/errors.ts";
import { readConfig, stateDirOf } from "../../sdk/config-file.ts";
import { openState } from "../../state/state.ts";
import type { State } from "../../state/state.ts";

export interface Place {
  readonly config: CreelConfig;
  /** The file; undefined: there is none. */
  readonly configFile: string | undefined;
  /** What its paths are relative to. */
  readonly base: string;
  readonly state: State;
}

const DEFAULT = "creel.json";
/** Beside the creel.json that is made for somebody who has none. */
const DEFAULT_STATE = ".creel";

interface PlaceValues {
  readonly config?: string;
  readonly "state-dir"?: string;
}

/** `--state-dir`, then CREEL_STATE_DIR, then the configuration's `stateDir`. */
export async function findPlace(values: PlaceValues): Promise<Place> {
  const named = values.config ?? (existsSync(DEFAULT) ? DEFAULT : undefined);
  const configFile = named === undefined ? undefined : resolve(named);
  const config = await readConfig(configFile);
  const base = configFile === undefined ? process.cwd() : dirname(configFile);
  const given = values["state-dir"];
  const dir = given === undefined ? stateDirOf(config, base) : resolve(given);
  if (dir === undefined) throw new CreelError("ERR_INSTALL_NO_STATE");
  return { config, configFile, base, state: openState(dir) };
}

/** The same; who begins with nothing gets a creel.json. One that is there is theirs, and is left alone. True: it was made. */
export function makeConfig({ config, "state-dir": stateDir }: PlaceValues): boolean {
  if (config !== undefined || stateDir !== undefined || process.env.CREEL_STATE_DIR || existsSync(DEFAULT)) return false;
  return editConfig(DEFAULT, () => [{ path: ["stateDir"], value: DEFAULT_STATE }]);
}
