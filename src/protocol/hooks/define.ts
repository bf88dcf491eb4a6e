/**
 * The shape of a catalog entry. Everything a hook means is data here: the runners, the lane's chaining, the
 * types of both SDKs, the docs and the conformance tests read it, so that adding a hook is adding an entry.
 */
import type * as z from "zod";
import { LIMITS } from "../limits.ts";

/**
 * - `modify`: handlers run by priority, each sees what the ones before it made of the event; results merge by field.
 * - `gate`: as modify, and a terminal result ends the run.
 * - `claim`: the first terminal result wins and ends the run; others count for nothing.
 * - `observe`: side by side, results ignored. `evaluate`: side by side, one attributed outcome per handler.
 * - `sync`: as gate, for a gateway that cannot await.
 */
export const HOOK_KINDS = ["modify", "gate", "claim", "observe", "evaluate", "sync"] as const;
export type HookKind = (typeof HOOK_KINDS)[number];

/** What the gateway must not do once a terminal result was returned. */
export type TerminalDecision = "block" | "cancel" | "abort" | "handled";

/**
 * How one result field of several handlers becomes one:
 * - `first`: the first handler that defines it wins; `last`: the last one does;
 * - `any`: true once any handler says true (false is no decision);
 * - `assign`: objects are merged shallowly over what stands, starting from the event's own field of that name;
 * - `join`: texts are joined by a blank line, in priority order;
 * - `intersect`: lists of strings are intersected; `append`: lists are appended;
 * - `rank`: the value that stands later in `ranks` wins.
 */
export const MERGE_RULES = ["first", "last", "any", "assign", "join", "intersect", "append", "rank"] as const;
export type MergeRule = (typeof MERGE_RULES)[number];

/** As a field name in `merge`: the result as a whole, for hooks whose result is a dictionary. */
export const WHOLE = "*";

export interface FieldMerge {
  readonly rule: MergeRule;
  /** For `rank`, lowest first. */
  readonly ranks?: readonly string[];
  /** Only handlers that gave the winning value of this other field (listed before) have a say in this one. */
  readonly follows?: string;
  /** Later handlers see the merged value as this field of the event. */
  readonly chains?: string;
  /** Once a handler has set this field, the named result fields stay as they are. */
  readonly freezes?: readonly string[];
  /** OpenClaw's rule, where Creel chose another: under `rewrites: "isolated"` it applies, and nothing chains. */
  readonly isolated?: MergeRule;
  /** The host writes the plugin's id into this field of the value, over whatever the plugin put there. */
  readonly stamps?: string;
}

export interface Terminal {
  /** The result field that ends the run when it is `true`, or equals `equals`. */
  readonly field: string;
  readonly equals?: string;
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
  /** `null` from a handler is no result; "invalid": it must pass the schema like anything else. */
  readonly nullIs?: "invalid";
  /** Options of `api.on` that choose the events a handler is called for: which field each is compared with. */
  readonly filters?: Readonly<Partial<Record<FilterOption, { readonly from: "event" | "context"; readonly field: string }>>>;
  /** A second phase: with this context field present only handlers with requiresToolAuthority run, and only these result fields count. */
  readonly authority?: { readonly context: string; readonly keeps: readonly string[] };
  /** A plugin is not called for what it did itself, unless its handler is registered as reentrant. */
  readonly guardsReentry?: true;
  /** Not run inside itself: a run of it that one of its own handlers caused, while that run goes on, calls nobody. */
  readonly guardsNesting?: true;
  /**
   * An internal event: `context`, `messages` and `timestamp` are filled in when the gateway leaves them out, and the operator's
   * `hooks.internal.enabled: false` keeps everybody from listening.
   */
  readonly internal?: true;
  /** Result fields that are left out when the operator forbids prompt injection (the handler still runs). */
  readonly promptFields?: readonly string[];
  /** Event fields that are taken from the context when the event lacks them. */
  readonly fills?: Readonly<Record<string, string>>;
  /** Dotted paths of the event that no plugin gets to see. */
  readonly hides?: readonly string[];
  /** Fields of context, event or result in which OpenClaw has something live, a function most often, and what becomes of it here: "given: …" or "absent: …". */
  readonly live?: Readonly<Record<string, string>>;
  /** Sync hooks: a handler that changes this event field in place and returns nothing counts as returning it. */
  readonly echo?: string;
  /** The OpenClaw release that has it, or "creel". */
  readonly since: string;
}

export const FILTER_OPTIONS = ["matcher", "eligibleTriggers", "eligibleDispatchKinds", "agentIds"] as const;
export type FilterOption = (typeof FILTER_OPTIONS)[number];

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
