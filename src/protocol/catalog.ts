/** The catalog: every hook there is, by name. The one source of truth about hooks. */
import type * as z from "zod";
import type { AnyHook } from "./hooks/define.ts";
import type { Evaluation } from "./outcome.ts";
import { agentEnd, beforeAgentReply, beforePromptBuild } from "./hooks/agent.ts";
import { messageSending } from "./hooks/message.ts";
import { sessionPatch } from "./hooks/session.ts";
import { afterTurn, beforeTurn, onTurnError } from "./hooks/turn.ts";
import { beforeToolCall, toolResultPersist } from "./hooks/tool.ts";

export { defineHook } from "./hooks/define.ts";
export type {
  AnyHook,
  FieldMerge,
  HookDefinition,
  HookKind,
  HookPermission,
  MergeRule,
  Terminal,
  TerminalDecision,
} from "./hooks/define.ts";

export const CATALOG = byName([
  beforePromptBuild,
  beforeAgentReply,
  agentEnd,
  beforeToolCall,
  toolResultPersist,
  messageSending,
  sessionPatch,
  beforeTurn,
  afterTurn,
  onTurnError,
]);

export type Catalog = typeof CATALOG;
export type HookName = keyof Catalog;

/** Hooks of a gateway's own, beside the catalog's. */
export type HookTable = Readonly<Record<string, AnyHook>>;

export type EventOf<H extends AnyHook> = z.input<H["event"]>;
export type ContextOf<H extends AnyHook> = z.input<H["context"]>;
export type ResultOf<H extends AnyHook> = H["kind"] extends "evaluate"
  ? readonly Evaluation<z.output<H["result"]>>[]
  : z.output<H["result"]>;
/** What a handler may return. */
export type AnswerOf<H extends AnyHook> = H["kind"] extends "observe" ? unknown : z.input<H["result"]> | null | undefined | void;

export type NamesOfKind<T extends HookTable, Kind extends AnyHook["kind"]> = {
  [N in keyof T]: T[N]["kind"] extends Kind ? N : never;
}[keyof T] &
  string;

/** Internal events are named `type:action`; the type is their family. */
export function familyOf(name: string): string | undefined {
  const colon = name.indexOf(":");
  return colon > 0 ? name.slice(0, colon) : undefined;
}

function byName<const T extends readonly AnyHook[]>(hooks: T): { readonly [H in T[number] as H["name"]]: H } {
  return Object.freeze(Object.assign(Object.create(null), Object.fromEntries(hooks.map((hook) => [hook.name, hook]))));
}
