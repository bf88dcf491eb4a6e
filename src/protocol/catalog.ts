/** The catalog: every hook, by name. The one source of truth about hooks. */
import type * as z from "zod";
import type { AnyHook } from "./hooks/define.ts";
import type { Evaluation } from "./outcome.ts";
import { agentHooks } from "./hooks/agent.ts";
import { dispatchHooks } from "./hooks/dispatch.ts";
import { gatewayHooks } from "./hooks/gateway.ts";
import { installHooks } from "./hooks/install.ts";
import { internalEvents } from "./hooks/internal.ts";
import { messageHooks } from "./hooks/message.ts";
import { modelHooks } from "./hooks/model.ts";
import { promptHooks } from "./hooks/prompt.ts";
import { sessionHooks } from "./hooks/session.ts";
import { skillHooks } from "./hooks/skill.ts";
import { subagentHooks } from "./hooks/subagent.ts";
import { toolHooks } from "./hooks/tool.ts";
import { turnHooks } from "./hooks/turn.ts";

export { defineHook } from "./hooks/define.ts";
export type { AnyHook, FieldMerge, HookDefinition, HookKind } from "./hooks/define.ts";

/** In the order of the docs. */
export const FAMILIES = {
  "Agent runs": agentHooks,
  Prompts: promptHooks,
  Models: modelHooks,
  Tools: toolHooks,
  Messages: messageHooks,
  Dispatch: dispatchHooks,
  Sessions: sessionHooks,
  Subagents: subagentHooks,
  Gateway: gatewayHooks,
  Installation: installHooks,
  Skills: skillHooks,
  Turns: turnHooks,
  "Internal events": internalEvents,
} as const;

export const CATALOG = byName(Object.values(FAMILIES).flat());

export type Catalog = typeof CATALOG;
export type HookName = keyof Catalog;

/** A gateway's own hooks, beside the catalog's. */
export type HookTable = Readonly<Record<string, AnyHook>>;

export type EventOf<H extends AnyHook> = z.input<H["event"]>;
export type ContextOf<H extends AnyHook> = z.input<H["context"]>;
export type ResultOf<H extends AnyHook> = H["kind"] extends "evaluate"
  ? readonly Evaluation<z.output<H["result"]>>[]
  : Settled<z.output<H["result"]>>;
/** How a run of the hook can end. */
export type DecisionOf<H extends AnyHook> = "pass" | NonNullable<H["terminal"]>["decision"];
/** Requests for approval are in `outcome.approval`. */
type Settled<Result> = Result extends { requireApproval?: unknown }
  ? "requireApproval" extends keyof Result
    ? Omit<Result, "requireApproval">
    : Result
  : Result;
/** What a handler may return. */
export type AnswerOf<H extends AnyHook> = H["kind"] extends "observe" ? unknown : z.input<H["result"]> | null | undefined | void;

export type NamesOfKind<T extends HookTable, Kind extends AnyHook["kind"]> = NameByKind<T, Kind>[keyof T] & string;

/** Each hook's name if it is of that kind; otherwise never. */
export type NameByKind<T extends HookTable, Kind extends AnyHook["kind"]> = { [N in keyof T]: T[N]["kind"] extends Kind ? N : never };

/** Internal events are named `type:action`. The type is their family. */
export function familyOf(name: string): string | undefined {
  const colon = name.indexOf(":");
  return colon > 0 ? name.slice(0, colon) : undefined;
}

function byName<const T extends readonly AnyHook[]>(hooks: T): { readonly [H in T[number] as H["name"]]: H } {
  return Object.freeze(Object.assign(Object.create(null), Object.fromEntries(hooks.map((hook) => [hook.name, hook]))));
}
