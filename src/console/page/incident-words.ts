/** The page: an incident as one sentence. */
import type { Incident } from "../incidents.ts";

/** How attempts to deliver end that are no success. */
const DELIVERIES: Readonly<Record<string, string>> = { dead: "was given up", dropped: "was dropped" };

export function incidentWords({ kind, fact }: Incident): string {
  const { plugin, why, state, status, error, service, message, limit, culprit, what, toolName, resolution, by, hook, id, chain } =
    fact as Record<string, string> & { chain?: { path: string[] } };
  switch (kind) {
    case "restart":
      return `The sandbox was restarted${culprit === undefined ? "" : ` because of ${culprit}`}: ${why}`;
    case "quarantine":
      return `${plugin}: its breaker is ${state}: ${why}`;
    case "recursion":
      return `A loop of ${plugin} was stopped (${limit}): ${chain?.path.join(" → ") ?? ""}`;
    case "refused":
      return `${plugin} was refused ${service}: ${message}`;
    case "replaced":
      return `The cell of ${plugin} was rebuilt: ${why}`;
    case "moved":
      return `${plugin} was moved to another lane: ${why}`;
    case "plugin":
      return `${plugin} is ${status}${error === undefined ? "" : `: ${error}`}`;
    case "delivery":
      return `${plugin}: an event of ${hook} (${id}) ${DELIVERIES[status!] ?? "failed and waits"}${why === undefined ? "" : `: ${why}`}`;
    case "approval":
      return what === "asked"
        ? `${toolName} waits for an approval`
        : `${toolName}: ${resolution ?? what}${by === undefined ? "" : ` by ${by}`}`;
    default:
      return kind;
  }
}
