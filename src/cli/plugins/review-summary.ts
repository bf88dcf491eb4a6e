/** The three lines of a review that a person can decide by: what the plugin can stop, reads and changes, and where it can send. */
import type { Review } from "../../install/review/review.ts";

type Reviewed = Pick<Review, "hooks" | "permissions">;

const MAX_NAMES = 4;

export interface SummaryLine {
  readonly label: string;
  readonly text: string;
  /** Worth a second look. */
  readonly isRisky: boolean;
}

export function reviewSummary({ hooks, permissions }: Reviewed): SummaryLine[] {
  // What only its code seems to need is not granted by a yes.
  const keys = permissions.filter(({ from }) => from !== "scan").map(({ key }) => key);
  const at = (...risks: number[]): string[] => [...new Set(hooks.filter(({ risk }) => risks.includes(risk)).map(({ hook }) => hook))];
  const stops = at(0, 1);
  const closed = at(0);
  const reads = [
    ...(at(5).length > 0 || keys.includes("conversation") ? ["conversations"] : []),
    ...(keys.includes("session:get") ? ["sessions"] : []),
    ...keys.filter((key) => key.startsWith("env:")).map((key) => `the variable ${key.slice(4)}`),
  ];
  const changes = [
    ...(keys.includes("prompt") ? ["prompts"] : []),
    ...(keys.includes("session:patch") ? ["sessions"] : []),
    ...at(2, 3, 4),
  ];
  const origins = keys.filter((key) => /^(?:connect|fetch):/.test(key)).map((key) => key.slice(key.indexOf(":") + 1));
  const failing = closed.length === 0 ? "" : `; even by failing: ${named(closed)}`;
  const both = [...(reads.length > 0 ? [`reads ${named(reads)}`] : []), ...(changes.length > 0 ? [`changes ${named(changes)}`] : [])];
  return [
    { label: "Can stop", text: stops.length === 0 ? "nothing" : `${named(stops)}${failing}`, isRisky: stops.length > 0 },
    { label: "Can see", text: both.join("; ") || "only the events of its hooks, and changes nothing", isRisky: both.length > 0 },
    {
      label: "Can send",
      text: origins.length === 0 ? "nothing: it asks for no network" : `to ${named(origins)}`,
      isRisky: origins.length > 0,
    },
  ];
}

function named(names: readonly string[]): string {
  const rest = names.length - MAX_NAMES;
  return `${names.slice(0, MAX_NAMES).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
