/** Where the commands about installed plugins look: which `creel.json`, which state folder, and whose word that is. */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { dirname, join, resolve } from "node:path";
import * as z from "zod";
import type { CreelConfig } from "../../protocol/config/config.ts";
import { CreelError } from "../../protocol/errors.ts";
import { lockKeyOf, readConfig, stateDirOf } from "../../discovery/config-file.ts";
import { openState } from "../../state/state.ts";
import type { State } from "../../state/state.ts";

export interface Project {
  readonly config: CreelConfig;
  /** The file, even if it does not exist yet; undefined: there is none. */
  readonly configFile: string | undefined;
  /** Base of its relative paths. */
  readonly base: string;
  readonly state: State;
}

const DEFAULT = "creel.json";
/** The state folder beside a creel.json that `createConfig` makes. */
const DEFAULT_STATE = ".creel";
/** For editors, where Creel is a package of the project. */
const SCHEMA = "node_modules/creel/docs/reference/creel.schema.json";

interface ProjectValues {
  readonly config?: string;
  readonly "state-dir"?: string;
}

/**
 * Uses `--state-dir`, then CREEL_STATE_DIR, then the configuration's `stateDir`. `fallback`: without any, the path that
 * `createConfig` would set.
 */
export async function findProject(values: ProjectValues, fallback = false): Promise<Project> {
  // These commands check one file or two and end: a checker that is compiled first takes longer than it saves.
  z.config({ jitless: true });
  const named = values.config ?? (existsSync(DEFAULT) ? DEFAULT : undefined);
  const configFile = named === undefined ? undefined : resolve(named);
  const config = await readConfig(configFile);
  const base = configFile === undefined ? process.cwd() : dirname(configFile);
  const given = values["state-dir"];
  const isMade = fallback && lacksConfig(values);
  const made = isMade ? resolve(DEFAULT_STATE) : undefined;
  const dir = given === undefined ? (stateDirOf(config, base) ?? made) : resolve(given);
  if (dir === undefined) throw new CreelError("ERR_INSTALL_NO_STATE");
  const key = await lockKeyOf(config, base);
  return { config, configFile: isMade ? resolve(DEFAULT) : configFile, base, state: openState(dir, key && { key }) };
}

/**
 * Creates a creel.json for an operator who has none, after they consented. Never changes an existing one. True: it was
 * created.
 */
export async function createConfig(values: ProjectValues): Promise<boolean> {
  if (!lacksConfig(values)) return false;
  // Not imported above: most commands change no configuration.
  const { editConfig } = await import("../../install/config/config-edit.ts");
  const schema = existsSync(SCHEMA) ? [{ path: ["$schema"], value: `./${SCHEMA}` }] : [];
  return editConfig(DEFAULT, () => [...schema, { path: ["stateDir"], value: DEFAULT_STATE }]);
}

/**
 * Removes a state folder that did not exist before the command, unless something was installed into it: an installation
 * that was refused or failed leaves nothing behind.
 */
export function freshState(state: State): AsyncDisposable {
  const { dir } = state;
  const isFresh = !existsSync(dir);
  return {
    async [Symbol.asyncDispose]() {
      const work = join(dir, "work");
      if (!isFresh || !existsSync(dir) || (existsSync(work) && readdirSync(work).length > 0)) return;
      const installed = await state.read().catch(() => undefined);
      if (installed?.size === 0) rmSync(dir, { recursive: true, force: true });
    },
  };
}

function lacksConfig({ config, "state-dir": stateDir }: ProjectValues): boolean {
  return config === undefined && stateDir === undefined && !process.env.CREEL_STATE_DIR && !existsSync(DEFAULT);
}

/** The user who runs the command, for the lock. */
export function currentUser(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    // A user without an entry in the user database, as in some containers.
    return `${process.getuid?.() ?? "unknown"}@${hostname()}`;
  }
}
