/** What the running hosts of a state folder make of a change of what is installed, and how that is said. */
import { WENT_ON } from "../../host/reloads.ts";
import { oneLine } from "../../host/one-line.ts";
import { tellHosts } from "../../serve/presence.ts";
import type { Told } from "../../serve/presence.ts";
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

/** Tells them, and waits for what they do. Undefined: there is none. */
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
      line(paint(isGood ? "gray" : "yellow", `${isGood ? " " : "!"} the running host ${words}`));
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
  if (error !== undefined) return bad(`was not told: ${error}`);
  if (!plugin) return good("did not have it");
  const { status, version } = plugin;
  const reason = plugin.error?.message ?? "no reason given";
  if (reason.startsWith(WENT_ON)) return bad(`goes on with the old version: ${reason.slice(WENT_ON.length)}`);
  switch (status) {
    case "ready":
    case "asleep":
      return good(`took it in: version ${from === undefined || from === version ? "" : `${from} → `}${version ?? "unknown"}`);
    case "disabled":
      return good("does not run it any more");
    default:
      return bad(`has it as ${status}: ${reason}`);
  }
}
