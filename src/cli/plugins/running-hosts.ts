/** Notifies the running hosts of a state folder of a change, and prints what they did. */
import { WENT_ON } from "../../host/plugins/reloads.ts";
import { oneLine } from "../../text/one-line.ts";
import { tellHosts } from "../../serve/running-hosts.ts";
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
