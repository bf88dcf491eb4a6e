/**
 * Trusted side: the scripts of `hooks.agent`. Each is a file whose default export is `(ctx) => result`. The adapter
 * made here registers it for one turn hook, so that it runs as a plugin in its own cell.
 */
import { stat } from "node:fs/promises";
import { CreelError } from "../protocol/errors.ts";
import { ADAPTED } from "../bundler/bundle.ts";

export const TURN_HOOKS = ["beforeTurn", "afterTurn", "onTurnError"] as const;
export type TurnHook = (typeof TURN_HOOKS)[number];

export interface TurnScript {
  readonly hook: TurnHook;
  /** Only for these agents; undefined: for all. */
  readonly agentIds: readonly string[] | undefined;
}

/** The virtual entry of a script's bundle. */
export function turnAdapter({ hook, agentIds }: TurnScript): string {
  const [name, options] = [JSON.stringify(hook), JSON.stringify(agentIds ? { agentIds } : {})];
  return `import * as script from ${JSON.stringify(ADAPTED)};
const run = script.default;
export default (api) => {
  if (typeof run !== "function") throw new TypeError("the default export of a turn hook's script must be a function (ctx) => result");
  api.on(${name}, (ctx) => run(ctx), ${options});
};
`;
}

/** The bundler's message for a missing file would be about the adapter, which the operator does not know. */
export async function checkScript(path: string): Promise<void> {
  const isFile = (await stat(path).catch(() => undefined))?.isFile();
  if (!isFile) throw new CreelError("ERR_PLUGIN_ENTRY", { path, problem: "does not exist" });
}
