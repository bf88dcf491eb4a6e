/** Notifies the running hosts of a state folder of a change, and prints what they did. */
import { WENT_ON } from "../../host/plugins/reloads.ts";
import { oneLine } from "../../text/one-line.ts";
import { inspectInHosts, tellHosts } from "../../serve/running-hosts.ts";
import type { Told } from "../../serve/running-hosts.ts";
import type { Terminal } from "../ui/terminal.ts";

export interface Running {
  /** For --json. */
  readonly rows: readonly RunningHost[];
  /** A line each. */
  say(terminal: Terminal): void;
}

export interface RunningHost {
  readonly pid: number;
  readonly socket: string;
  /** Undefined: it has no such plugin. */
  readonly status: string | undefined;
  readonly version: string | undefined;
  readonly error: string | undefined;
}

/** Notifies them and waits for the result. Undefined: there is none. */
export async function tellRunning(stateDir: string, plugin: string): Promise<Running | undefined> {
  const told = await tellHosts(stateDir, plugin);
  if (told.length === 0) return undefined;
  const rows = told.map(({ pid, socket, plugin: found, error }) => ({
    pid,
    socket,
    status: found?.status,
    version: found?.version,
    error: error ?? found?.error?.message,
  }));
  const say = ({ line, paint }: Terminal): void => {
    for (const one of told) {
      const { isGood, words } = outcome(one);
      line(paint(isGood ? "gray" : "yellow", `${isGood ? " " : "!"} running host ${words}`));
    }
  };
  return { rows, say };
}

/** One plugin in a running host, for --json. */
export interface RunningPlugin {
  readonly pid: number;
  readonly socket: string;
  /** Undefined: it has no such plugin. */
  readonly status: string | undefined;
  readonly lane: number | undefined;
  /** Why it is in that lane. */
  readonly lanePlacement: string | undefined;
  readonly error: string | undefined;
}

/** How the plugin is in the running hosts; `say` prints nothing if there is none. */
export async function inspectRunning(stateDir: string, plugin: string): Promise<{ rows: RunningPlugin[]; say(terminal: Terminal): void }> {
  const found = await inspectInHosts(stateDir, plugin);
  const rows = found.map(({ pid, socket, plugin: report, error }): RunningPlugin => ({
    pid,
    socket,
    status: report?.status,
    lane: report?.lane,
    lanePlacement: report?.lanePlacement,
    error,
  }));
  const say = ({ line, paint }: Terminal): void => {
    if (rows.length === 0) return;
    line();
    line(paint("bold", "Running"));
    for (const row of rows) line(`  host ${row.pid}: ${placeOf(row)}`);
  };
  return { rows, say };
}

function placeOf({ status, lane, lanePlacement, error }: RunningPlugin): string {
  if (error !== undefined) return `did not answer: ${oneLine(error, 1_000)}`;
  if (status === undefined) return "does not have the plugin";
  const place = lane === undefined || lanePlacement === undefined ? "" : `, lane ${lane}: ${oneLine(lanePlacement, 1_000)}`;
  return `${oneLine(status, 100)}${place}`;
}

interface Words {
  readonly isGood: boolean;
  readonly words: string;
}

const good = (words: string): Words => ({ isGood: true, words });
const bad = (words: string): Words => ({ isGood: false, words: oneLine(words, 1_000) });

function outcome({ from, plugin, error }: Told): Words {
  if (error !== undefined) return bad(`could not be told: ${error}`);
  if (!plugin) return good("does not have the plugin");
  const { status, version } = plugin;
  const reason = plugin.error?.message ?? "no reason given";
  if (reason.startsWith(WENT_ON)) return bad(`keeps the old version: ${reason.slice(WENT_ON.length)}`);
  switch (status) {
    case "ready":
    case "asleep":
      return good(`loaded version ${from === undefined || from === version ? "" : `${from} → `}${version ?? "unknown"}`);
    case "disabled":
      return good("stopped the plugin");
    default:
      return bad(`reports status ${status}: ${reason}`);
  }
}
