/**
 * Trusted side: which walls stand around a host's sandbox, for callers that ask (`host.walls()`), and as one warning
 * for operators if some are missing.
 */
import type { Logger } from "../../report/log.ts";
import { REQUIRED } from "./plan.ts";
import type { Layer, LayerName, WallsWanted } from "./plan.ts";

export interface WallsReport {
  /**
   * Even if a plugin compromises the sandbox process, the kernel keeps it from network, files, processes and
   * privileges.
   */
  readonly isWalled: boolean;
  readonly isolation: "process" | "thread";
  /** `sandbox.walls` of the configuration. */
  readonly wanted: WallsWanted["walls"];
  /** Which of network, files, processes and privileges are missing. */
  readonly missing: readonly LayerName[];
  /** If walls are missing: the reason, and what the operator can do. */
  readonly why?: string;
  readonly fix?: string;
  /** Every layer, on or off; none with thread isolation. */
  readonly layers: readonly Layer[];
}

export function processReport(layers: readonly Layer[], wanted: WallsWanted["walls"]): WallsReport {
  const open = layers.filter(({ name, isOn }) => !isOn && REQUIRED.some((required) => required === name));
  const [first] = open;
  return {
    isWalled: open.length === 0,
    isolation: "process",
    wanted,
    missing: open.map(({ name }) => name),
    ...(first?.why !== undefined && { why: first.why }),
    ...(first?.fix !== undefined && { fix: first.fix }),
    layers,
  };
}

export function threadReport(): WallsReport {
  return {
    isWalled: false,
    isolation: "thread",
    wanted: "none",
    missing: REQUIRED,
    why: "with thread isolation, plugins run inside the gateway's own process",
    fix: 'open the host with isolation: "process"',
    layers: [],
  };
}

/** One sentence for people. Undefined: the walls stand, or the operator has turned them off. */
export function wallsWarning({ isWalled, isolation, wanted, why }: WallsReport): string | undefined {
  if (isWalled || isolation === "thread" || wanted === "none") return undefined;
  return `the sandbox has no walls here: a plugin that escapes from V8 can reach this machine (${why})`;
}

/** Called once, when a host opens. Walls that the operator has turned off are no warning. */
export function logWalls(report: WallsReport, logger: Logger): void {
  const { isWalled, isolation, wanted, missing, why, fix } = report;
  if (isWalled || isolation === "thread") return;
  if (wanted === "none") logger.info({ walls: wanted, missing }, "the sandbox has no walls: the configuration turns them off");
  else logger.warn({ missing, why, fix }, "the sandbox has no walls: a plugin that escapes from V8 can reach this machine");
}
