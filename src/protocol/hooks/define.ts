/**
 * The shape of a catalog entry. Everything that a hook means is data here. The runners, the lane's chain rule, the
 * types of both SDKs, the docs and the conformance tests read it, so that adding a hook means adding an entry.
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

/** What the gateway must not do after a terminal result. */
export type TerminalDecision = "block" | "cancel" | "abort" | "handled";

/**
 * How one result field of several handlers becomes one:
 * - `first`: the first handler that defines it wins; `last`: the last one does;
 * - `any`: true once any handler says true (false is no decision);
 * - `assign`: objects are merged shallowly over what stands, starting from the event's own field of that name;
 * - `join`: texts are joined by a blank line, in priority order;
 * - `intersect`: lists of strings are intersected; `append`: lists are appended;
 * - `rank`: the value that stands later in `ranks` wins;
 * - `each`: a request for the user's approval. It is kept beside the result, with its handler: the user is asked about every
 *   one of them when the run is over (host/run/approvals/approvals.ts). A hook has at most one such field.
 */
export const MERGE_RULES = ["first", "last", "any", "assign", "join", "intersect", "append", "rank", "each"] as const;
export type MergeRule = (typeof MERGE_RULES)[number];

/** As a field name in `merge`: the whole result, for hooks whose result is a dictionary. */
export const WHOLE = "*";

export interface FieldMerge {
  readonly rule: MergeRule;
  /** For `rank`, lowest first. */
  readonly ranks?: readonly string[];
  /** Only handlers that gave the winning value of this other field (listed before) can set this one. */
  readonly follows?: string;
  /** Later handlers see the merged value as this field of the event. */
  readonly chains?: string;
  /** Once a handler has set this field, the named result fields are frozen. */
  readonly freezes?: readonly string[];
  /** OpenClaw's rule, where Creel chose another. It applies under `rewrites: "isolated"`, where nothing chains. */
  readonly isolated?: MergeRule;
  /** The host writes the plugin's id into this field of the value and overwrites what the plugin put there. */
  readonly stamps?: string;
  /**
   * The user approves this value: what a handler changes in it after a request (`each`) is shown to the user as well.
   */
  readonly approved?: true;
}

export interface Terminal<Ends extends TerminalDecision = TerminalDecision> {
  /** The result field that ends the run when it is `true`, or equals `equals`. */
  readonly field: string;
  readonly equals?: string;
  readonly decision: Ends;
  /** The result field that explains it. */
  readonly reason?: string;
}

export const PERMISSIONS = ["conversation", "prompt", "install"] as const;
/**
 * `conversation`: needs allowConversationAccess; `prompt`: refused when allowPromptInjection is false; `install`: needs
 * allowInstallDecisions.
 */
export type HookPermission = (typeof PERMISSIONS)[number];

export interface HookDefinition<
  Name extends string = string,
  Kind extends HookKind = HookKind,
  Event extends z.ZodType = z.ZodType,
  Context extends z.ZodType = z.ZodType,
  Result extends z.ZodType = z.ZodType,
  Ends extends TerminalDecision = TerminalDecision,
> {
  readonly name: Name;
  readonly kind: Kind;
  /** One sentence for docs and hover. */
  readonly summary: string;
  readonly event: Event;
  readonly context: Context;
  /** `z.undefined()` on observe hooks, whose handlers' results are ignored. */
  readonly result: Result;
  readonly merge: Readonly<Record<string, FieldMerge>>;
  readonly terminal?: Terminal<Ends>;
  /** What it means for the run when a handler fails, times out or returns an invalid result. */
  readonly failure: "open" | "closed";
  /** The same for people: what happens then, under either policy. The install review and `creel inspect` show it. */
  readonly ifItFails?: Readonly<Record<"open" | "closed", string>>;
  readonly permission: readonly HookPermission[];
  readonly budget: { readonly wallMs: number };
  /** By default a handler's `null` is no result. "invalid": it must pass the schema like any other value. */
  readonly nullIs?: "invalid";
  /** Options of `api.on` that choose the events a handler is called for, and the field that each is compared with. */
  readonly filters?: Readonly<Partial<Record<FilterOption, { readonly from: "event" | "context"; readonly field: string }>>>;
  /**
   * A second phase: if this context field is present, only handlers with requiresToolAuthority run, and only these
   * result fields count.
   */
  readonly authority?: { readonly context: string; readonly keeps: readonly string[] };
  /** A plugin is not called for its own actions, unless its handler is registered as reentrant. */
  readonly guardsReentry?: true;
  /**
   * Does not run inside itself: a run that one of its own handlers caused, while that handler's run goes on, calls no
   * handler.
   */
  readonly guardsNesting?: true;
  /**
   * An internal event: `context`, `messages` and `timestamp` are filled in if the gateway leaves them out, and the
   * operator's `hooks.internal.enabled: false` disables all listeners.
   */
  readonly internal?: true;
  /** Result fields that the host drops if the operator forbids prompt injection. The handler still runs. */
  readonly promptFields?: readonly string[];
  /**
   * Context fields that are taken from the event if the gateway gives no context, each with the event's field as a
   * dotted path.
   */
  readonly contextFrom?: Readonly<Record<string, string>>;
  /** Fields that event and context both have. A run whose two values differ is refused. */
  readonly agrees?: readonly string[];
  /** Event fields that are taken from the context if the event lacks them. */
  readonly fills?: Readonly<Record<string, string>>;
  /** Dotted paths of the event that the host hides from plugins. */
  readonly hides?: readonly string[];
  /**
   * Fields of context, event or result that hold something live in OpenClaw, most often a function, and what becomes of
   * it here: "given: …" or "absent: …".
   */
  readonly live?: Readonly<Record<string, string>>;
  /** Sync hooks: a handler that changes this event field in place and returns nothing counts as returning it. */
  readonly echo?: string;
  /** The OpenClaw release that introduced it, or "creel". */
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
  // Without a terminal field a run still blocks, if a required plugin fails.
  const Ends extends TerminalDecision = "block",
>(
  entry: Omit<HookDefinition<Name, Kind, Event, Context, Result, Ends>, "merge" | "failure" | "permission" | "budget" | "since"> &
    Partial<Pick<HookDefinition, "merge" | "failure" | "permission" | "budget" | "since">>,
): HookDefinition<Name, Kind, Event, Context, Result, Ends> {
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
  if (kind === "observe") return LIMITS.call.observeWallMs;
  return kind === "sync" ? LIMITS.sync.wallMs : LIMITS.call.awaitedWallMs;
}
