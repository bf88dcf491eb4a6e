/**
 * Trusted side: several requests, and changes after them, as one title and one description, for gateways that show nothing else.
 * The number of requests and the plugins that changed something come first, so that no cut hides them.
 */
import { LIMITS } from "../../../protocol/limits.ts";
import type { ApprovalChange } from "./changes.ts";
import type { RequestedApproval } from "./question.ts";
import { oneLine } from "../../../text/one-line.ts";

type Requests = readonly RequestedApproval[];
type Changes = readonly ApprovalChange[];

/** Of a title, for the plugins that changed something. */
const CHANGERS_CHARS = 30;

export function entitle(requests: Requests, changes: Changes): string {
  const isOne = requests.length === 1;
  if (isOne && changes.length === 0) return requests[0]!.title;
  const changers = fitted(
    changes.map(({ pluginId }) => pluginId),
    ", ",
    CHANGERS_CHARS,
  );
  const facts = [!isOne && `${requests.length} approvals`, changers && `changed by ${changers}`].filter(Boolean);
  const head = `${facts.join(", ")}: `;
  const titles = pluginsInTurn(requests).map(({ pluginId, title }) => `${pluginId} "${oneLine(title)}"`);
  return head + fitted(titles, "; ", LIMITS.approval.titleChars - head.length);
}

export function describe(requests: Requests, changes: Changes): string {
  if (requests.length === 1 && changes.length === 0) return requests[0]!.description;
  const asked = pluginsInTurn(requests).map(
    ({ pluginId, title, description, severity }) => `${pluginId}${severity ? ` (${severity})` : ""}: ${title}: ${description}`,
  );
  const changed = changes.map(({ pluginId, params, removed = [] }) => {
    const values = Object.entries(params).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
    return `${pluginId} changed afterwards: ${[...values, ...removed.map((key) => `no ${key}`)].join(", ")}`;
  });
  // What was changed is said first: the lines of requests may be many.
  const lines = [...changed, ...asked].map((line) => oneLine(line, LIMITS.approval.descriptionChars));
  return fitted(lines, "\n", LIMITS.approval.descriptionChars);
}

/** Every plugin's first request, then every plugin's second one: no plugin fills the line with its own. */
function pluginsInTurn(requests: Requests): RequestedApproval[] {
  const counts = new Map<string, number>();
  const placed = requests.map((request) => {
    const place = counts.get(request.pluginId) ?? 0;
    counts.set(request.pluginId, place + 1);
    return { request, place };
  });
  return placed.toSorted((a, b) => a.place - b.place).map(({ request }) => request);
}

/** A shorter part would say nothing. */
const LEAST_CHARS = 16;
const CUT = "…";

/** The parts in one text of at most `max` characters: long ones are cut, and if that is not enough, the last ones are left out. */
function fitted(parts: readonly string[], glue: string, max: number): string {
  const fits = Math.floor((max - CUT.length) / (LEAST_CHARS + glue.length));
  const isWhole = parts.join(glue).length <= max || parts.length <= fits;
  const shown = isWhole ? parts : [...parts.slice(0, fits), CUT];
  let left = max - glue.length * (shown.length - 1);
  const rooms = shown.map(() => 0);
  // Shortest first: longer parts share the room that short ones leave.
  for (const [done, at] of [...shown.keys()].toSorted((a, b) => shown[a]!.length - shown[b]!.length).entries()) {
    rooms[at] = Math.min(shown[at]!.length, Math.floor(left / (shown.length - done)));
    left -= rooms[at];
  }
  return shown.map((part, at) => cut(part, rooms[at]!)).join(glue);
}

function cut(part: string, max: number): string {
  return part.length <= max ? part : `${part.slice(0, max - CUT.length)}${CUT}`;
}
