/** Trusted side: what one validated result means for a run, by kind of hook. The terminal rule is stated here and nowhere else. */
import type { AnyHook } from "../../protocol/catalog.ts";
import { merge } from "../../protocol/rules/merge.ts";
import type { Fields, Merged, Own } from "../../protocol/rules/merge.ts";
import type { Handler } from "../plugins/registry.ts";

export interface Judgement {
  readonly state: Merged<Handler>;
  /** No further handler runs. */
  readonly ends: boolean;
}

type Judge = (hook: AnyHook, state: Merged<Handler>, answer: Fields, by: Handler, own?: Own) => Judgement;

/** Every result is merged, every handler runs. */
const modify: Judge = (hook, state, answer, by, own) => ({ state: merge(hook, state, answer, by, own), ends: false });

/** Every result is merged; a terminal one ends the run. */
const gate: Judge = (hook, state, answer, by, own) => ({ state: merge(hook, state, answer, by, own), ends: isTerminal(hook, answer) });

/** Only the claim counts. */
const claim: Judge = (hook, state, answer, by, own) =>
  isTerminal(hook, answer) ? { state: merge(hook, state, answer, by, own), ends: true } : { state, ends: false };

export const JUDGES = { modify, gate, claim, sync: gate } as const satisfies Record<string, Judge>;

function isTerminal(hook: AnyHook, answer: Fields): boolean {
  return hook.terminal !== undefined && answer[hook.terminal.field] === (hook.terminal.equals ?? true);
}
