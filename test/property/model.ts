/**
 * The rules of hooks as a plain function, written from design.md and hooks.md and not from the host: what a run over
 * these handlers must come to. It knows nothing of lanes, frames or time; the catalog gives it schemas and rules as data.
 */
import type { HookDefinition } from "creel";

type Fields = Record<string, unknown>;

/** What a handler does when it is called. `value` is a template, see `fill`. */
export type Act =
  | { readonly do: "nothing" }
  | { readonly do: "null" }
  | { readonly do: "mutate" }
  | { readonly do: "result"; readonly value: unknown }
  | { readonly do: "throw"; readonly kind: string }
  | { readonly do: "garbage"; readonly kind: string };

/** `direct` returns or throws at once; all others give a promise, or something like one. */
export interface Step {
  readonly how: "direct" | "async" | "microtasks" | "timer" | "thenable";
  readonly act: Act;
}

export interface ModelHandler {
  readonly id: string;
  readonly plugin: string;
  readonly pluginOrder: number;
  /** Position among the plugin's own registrations. */
  readonly order: number;
  readonly key: string;
  readonly priority: number | undefined;
  readonly matcher: readonly string[] | undefined;
}

export interface Expected {
  decision: string;
  by: string | undefined;
  result: Fields | undefined;
  reason: string | undefined;
  calls: [plugin: string, priority: number, status: string][];
  approval?: {
    pluginId: string;
    resolution: string;
    requests: { pluginId: string; title: string; severity?: string; resolution: string }[];
    changes?: { pluginId: string; params: string[] }[];
  };
}

interface Request {
  readonly pluginId: string;
  readonly title: string;
  readonly description: string;
  readonly severity?: string;
  readonly allowedDecisions?: string[];
}

/** What handlers want approved, and who changed parameters afterwards. */
export interface Wishes {
  readonly requests: Request[];
  /** Which parameters, by plugin; the plugin that changed something last is the last one. */
  readonly changes: Map<string, string[]>;
}

/** Where the text of a reason is the host's own wording, the model gives its beginning. */
export const failurePrefix = (hook: string, plugin: string): string => `${hook} handler of ${plugin} failed:`;

/** Priority decides, then the plugin's place in the list, then the order of registration; families come before exact names. */
function inOrder(hook: string, handlers: readonly ModelHandler[]): ModelHandler[] {
  const family = hook.includes(":") ? hook.slice(0, hook.indexOf(":")) : undefined;
  const rank = ({ key, priority, pluginOrder, order }: ModelHandler): number[] => [
    key === family ? 0 : 1,
    -(priority ?? 0),
    pluginOrder,
    order,
  ];
  return handlers
    .filter(({ key }) => key === hook || key === family)
    .toSorted((a, b) => {
      const [left, right] = [rank(a), rank(b)];
      const at = left.findIndex((value, i) => value !== right[i]);
      return at < 0 ? 0 : left[at]! - right[at]!;
    });
}

export function play(
  hook: HookDefinition,
  handlers: readonly ModelHandler[],
  script: Readonly<Record<string, Step>>,
  given: Fields,
  failure: "open" | "closed",
  wishes: Wishes = { requests: [], changes: new Map() },
): Expected {
  const event: Fields = structuredClone(given);
  const expected: Expected = { decision: "pass", by: undefined, result: undefined, reason: undefined, calls: [] };
  const state: Standing = { event, frozen: new Set(), said: [], wishes };
  let isOver = false;

  for (const handler of inOrder(hook.name, handlers)) {
    const { plugin, priority = 0 } = handler;
    if (isOver || !matches(hook, handler, given)) {
      expected.calls.push([plugin, priority, "skipped"]);
      continue;
    }
    const answer = call(hook, script[handler.id], event);
    expected.calls.push([plugin, priority, answer === FAILED ? "failed" : "ok"]);
    if (hook.kind === "observe") continue;
    if (answer === FAILED) {
      if (failure === "open" || !hook.terminal) continue;
      const why = failurePrefix(hook.name, plugin);
      expected.result = { ...expected.result, [hook.terminal.field]: true, ...(hook.terminal.reason && { [hook.terminal.reason]: why }) };
      Object.assign(expected, { decision: hook.terminal.decision, by: plugin, reason: hook.terminal.reason && why });
      isOver = true;
      continue;
    }
    if (answer === undefined) continue;
    const isTerminal = hook.terminal !== undefined && answer[hook.terminal.field] === (hook.terminal.equals ?? true);
    if (hook.kind === "claim" && !isTerminal) continue;
    expected.result = mergeInto(hook, expected.result ?? {}, answer, state, plugin);
    if (!isTerminal || !hook.terminal || hook.kind === "modify") continue;
    isOver = true;
    const { decision, reason } = hook.terminal;
    Object.assign(expected, { decision, by: plugin, reason: reason && expected.result[reason] });
  }
  return expected;
}

/** The answer that the user gives: of several requests, to the first one. */
export const answerTo = ([first]: readonly Pick<Request, "description">[]): string => first!.description;

/** What the user's answer makes of a run that asks for approval: all requests must allow it. */
export function afterApproval(expected: Expected, { requests, changes }: Wishes): Expected {
  if (expected.decision !== "pass" || requests.length === 0) return expected;
  const answer = answerTo(requests);
  const { pluginId } = requests[0]!;
  const approval = (resolution: string): Expected["approval"] => ({
    pluginId,
    resolution,
    requests: requests.map((request) => ({
      pluginId: request.pluginId,
      title: request.title,
      ...(request.severity && { severity: request.severity }),
      resolution,
    })),
    ...(changes.size > 0 && { changes: Array.from(changes, ([id, params]) => ({ pluginId: id, params })) }),
  });
  const isAllowing = answer === "allow-once" || answer === "allow-always";
  if (isAllowing && requests.every(({ allowedDecisions }) => allowedDecisions?.includes(answer) ?? true))
    return { ...expected, approval: approval(answer)! };
  const [resolution, reason] =
    answer === "deny"
      ? ["deny", "Denied by user"]
      : answer === "throw"
        ? ["cancelled", "Plugin approval required (gateway unavailable)"]
        : ["timeout", "Approval timed out"];
  return {
    ...expected,
    decision: "block",
    by: pluginId,
    reason,
    result: { ...expected.result, block: true, blockReason: reason },
    approval: approval(resolution)!,
  };
}

const FAILED = Symbol("failed");

function matches(hook: HookDefinition, { matcher }: ModelHandler, event: Fields): boolean {
  const compared = hook.filters?.matcher;
  if (!compared || !matcher) return true;
  return matcher.some((tool) => tool.toLowerCase() === String(event[compared.field]).toLowerCase());
}

/** A handler's answer: validated fields, nothing, or a failure. */
function call(hook: HookDefinition, step: Step | undefined, event: Fields): Fields | undefined | typeof FAILED {
  if (!step) return undefined;
  if (hook.kind === "sync" && step.how !== "direct") return FAILED;
  const { act } = step;
  if (act.do === "throw") return FAILED;
  if (hook.kind === "observe") return undefined;
  if (act.do === "garbage") return FAILED;
  if (act.do === "nothing" || act.do === "null") return undefined;
  if (act.do === "mutate") return hook.echo ? { [hook.echo]: { ...(event[hook.echo] as Fields), mutated: true } } : undefined;
  const value: unknown = JSON.parse(JSON.stringify(fill(act.value, event)));
  if (value === null) return undefined;
  const parsed = hook.result.safeParse(value);
  return parsed.success ? (parsed.data as Fields) : FAILED;
}

/** `{ $plus: [field, text] }` is an event's text with something added, `{ $keys: field }` the names in an event's object. */
function fill(template: unknown, event: Fields): unknown {
  if (Array.isArray(template)) return template.map((item) => fill(item, event));
  if (typeof template !== "object" || template === null) return template;
  const { $plus, $keys } = template as { $plus?: [string, string]; $keys?: string };
  if ($plus) return `${String(event[$plus[0]])}${$plus[1]}`;
  if ($keys)
    return Object.keys((event[$keys] as object | undefined) ?? {})
      .toSorted()
      .join();
  return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, fill(value, event)]));
}

interface Standing {
  readonly event: Fields;
  readonly frozen: Set<string>;
  /** Every answer so far: a field that follows another is made of those that gave the other's winning value. */
  readonly said: Fields[];
  readonly wishes: Wishes;
}

function mergeInto(hook: HookDefinition, stands: Fields, answer: Fields, standing: Standing, plugin: string): Fields {
  const { event, frozen, said, wishes } = standing;
  const merged = { ...stands };
  const freezing: string[] = [];
  said.push(answer);
  for (const [field, { rule, ranks, follows, chains, freezes, stamps, approved }] of Object.entries(hook.merge)) {
    if (follows !== undefined) {
      const texts = said.filter((one) => one[follows] === merged[follows] && one[field] !== undefined).map((one) => one[field]);
      delete merged[field];
      if (texts.length > 0)
        merged[field] = rule === "join" ? texts.filter(Boolean).join("\n\n") : texts[rule === "first" ? 0 : texts.length - 1];
      continue;
    }
    const value = answer[field];
    if (value === undefined || frozen.has(field)) continue;
    const before = merged[field];
    if (rule === "each") wishes.requests.push({ ...(value as Request), pluginId: plugin });
    if (rule === "last") merged[field] = value;
    if (rule === "first" && before === undefined) merged[field] = stamps ? { ...(value as object), [stamps]: plugin } : value;
    if (rule === "any") merged[field] = [before, value].includes(true);
    if (rule === "join") merged[field] = [before, value].filter(Boolean).join("\n\n");
    if (rule === "append") merged[field] = [before ?? [], value].flat();
    if (rule === "intersect")
      merged[field] = before === undefined ? value : (before as string[]).filter((item) => (value as string[]).includes(item));
    if (rule === "assign") merged[field] = { ...((before ?? (chains ? event[chains] : {})) as object), ...(value as object) };
    if (rule === "rank") merged[field] = ranks!.findLast((rank) => rank === before || rank === value);
    if (approved && wishes.requests.length > 0) noteChanges(wishes, plugin, event[field] as Fields, value as Fields);
    if (chains) event[chains] = merged[field];
    if (freezes) freezing.push(...freezes);
  }
  for (const field of freezing) frozen.add(field);
  return merged;
}

/** In the order of the answer. */
function noteChanges({ changes }: Wishes, plugin: string, before: Fields, after: Fields): void {
  const isNew = (key: string) => !Object.hasOwn(before, key) || JSON.stringify(before[key]) !== JSON.stringify(after[key]);
  const changed = Object.keys(after).filter(isNew);
  if (changed.length === 0) return;
  const all = [...new Set([...(changes.get(plugin) ?? []), ...changed])];
  changes.delete(plugin);
  changes.set(plugin, all);
}
