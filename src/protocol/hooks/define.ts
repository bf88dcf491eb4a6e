/**
 * The shape of a catalog entry. Everything a hook means is data here: the runners, the lane's chaining, the
 * types of both SDKs, the docs and the conformance tests read it, so that adding a hook is adding an entry.
 */
import type * as z from "zod";
import { LIMITS } from "../limits.ts";

export const HOOK_KINDS = ["modify", "gate", "claim", "observe", "sync"] as const;
export type HookKind = (typeof HOOK_KINDS)[number];

/** What the gateway must not do once a terminal result was returned. */
export type TerminalDecision = "block" | "cancel" | "abort" | "handled";

/**
 * How one result field of several handlers becomes one:
 * - `first`: the first handler that defines it wins; `last`: the last one does;
 * - `any`: true once any handler says true (false is no decision);
 * - `assign`: objects are merged shallowly over what stands, starting from the event's own field of that name;
 * - `join`: texts are joined by a blank line, in priority order;
 * - `intersect`: lists of strings are intersected; `append`: lists are appended.
 */
export const MERGE_RULES = ["first", "last", "any", "assign", "join", "intersect", "append"] as const;
export type MergeRule = (typeof MERGE_RULES)[number];

export interface FieldMerge {
  readonly rule: MergeRule;
  /** Later handlers see the merged value as this field of the event. */
  readonly chains?: string;
  /** Once a handler has set this field, the named result fields stay as they are. */
  readonly freezes?: readonly string[];
  /** The host writes the plugin's id into this field of the value, over whatever the plugin put there. */
  readonly stamps?: string;
}

export interface Terminal {
  /** The result field that ends the run when it is `true`. */
  readonly field: string;
  readonly decision: TerminalDecision;
  /** The result field that explains it. */
  readonly reason?: string;
}

export const PERMISSIONS = ["conversation", "prompt"] as const;
/** `conversation`: needs allowConversationAccess; `prompt`: refused when allowPromptInjection is false. */
export type HookPermission = (typeof PERMISSIONS)[number];

export interface HookDefinition<
  Name extends string = string,
  Kind extends HookKind = HookKind,
  Event extends z.ZodType = z.ZodType,
  Context extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
> {
  readonly name: Name;
  readonly kind: Kind;
  /** One sentence for docs and hover. */
  readonly summary: string;
  readonly event: Event;
  readonly context: Context;
  /** `z.undefined()` on observe hooks: whatever a handler returns is ignored. */
  readonly result: Result;
  readonly merge: Readonly<Record<string, FieldMerge>>;
  readonly terminal?: Terminal;
  /** What a handler that fails, times out or answers garbage means for the run. */
  readonly failure: "open" | "closed";
  readonly permission: readonly HookPermission[];
  readonly budget: { readonly wallMs: number };
  /** The event field that a handler's `matcher` selects on. */
  readonly matches?: string;
  /** Sync hooks: a handler that changes this event field in place and returns nothing counts as returning it. */
  readonly echo?: string;
  /** The OpenClaw release that has it, or "creel". */
  readonly since: string;
}

export type AnyHook = HookDefinition;

/** Adds the defaults of a kind, keeps the literal types. */
export function defineHook<
  const Name extends string,
  const Kind extends HookKind,
  Event extends z.ZodType,
  Context extends z.ZodType,
  Result extends z.ZodType,
>(
  entry: Omit<HookDefinition<Name, Kind, Event, Context, Result>, "merge" | "failure" | "permission" | "budget" | "since"> &
    Partial<Pick<HookDefinition, "merge" | "failure" | "permission" | "budget" | "since">>,
): HookDefinition<Name, Kind, Event, Context, Result> {
  return Object.freeze({
    merge: {},
    failure: "open",
    permission: [],
    budget: { wallMs: defaultWallMs(entry.kind) },
    since: "creel",
    ...entry,
  });
}

function defaultWallMs(kind: HookKind): number {
  if (kind === "observe") return LIMITS.observeWallMs;
  return kind === "sync" ? LIMITS.syncWallMs : LIMITS.awaitedWallMs;
}
