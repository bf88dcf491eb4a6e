/**
 * Trusted side: which `creel serve` runs with a state folder. Each leaves a note there with its socket, so that
 * commands which change the installed plugins can notify it. Notes are not trusted: the socket's folder and token
 * decide, as for any client.
 */
import type { HostStats, PluginStats } from "../protocol/live-report.ts";
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { isAlive } from "../os/is-alive.ts";
import { parseJson } from "../text/parse-json.ts";
import { CreelError } from "../protocol/errors.ts";
import type { PluginReport } from "../host/report/inspect.ts";
import { ServeLink } from "../sdk/remote/serve-link.ts";

const FOLDER = "serving";
const note = z.object({ socket: z.string().min(1).max(4_096), pid: z.int().positive() });

/** The reaction of a running host to a change. */
export interface Told {
  readonly pid: number;
  readonly socket: string;
  /** The version it had; undefined: it did not have the plugin, or the version is unknown. */
  readonly from?: string | undefined;
  /** How the plugin is now; undefined: the host has none of that id. */
  readonly plugin?: Pick<PluginReport, "status" | "version" | "error"> | undefined;
  /** Why it could not be notified, or refused. */
  readonly error: string | undefined;
}

/** How a plugin is in a running host. */
export interface Inspected {
  readonly pid: number;
  readonly socket: string;
  /** Undefined: the host has none of that id, or did not answer. */
  readonly plugin?: PluginReport | undefined;
  /** What it has used there. */
  readonly stats?: PluginStats | undefined;
  /** Why it did not answer. */
  readonly error: string | undefined;
}

/** Gives the function that takes the note away. */
export async function leaveNote(stateDir: string, socket: string): Promise<() => Promise<void>> {
  const folder = join(stateDir, FOLDER);
  const file = join(folder, `${createHash("sha256").update(socket).digest("hex").slice(0, 16)}.json`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(file, `${JSON.stringify({ socket, pid: process.pid })}\n`, { mode: 0o600 });
  return () => rm(file, { force: true });
}

/** Tells every host that runs with the state folder to reload the plugin. Empty: there is none. */
export function tellHosts(stateDir: string, plugin: string): Promise<Told[]> {
  return withHosts(stateDir, async (link) => {
    const before = (await known(link.request("inspect", { plugin }))) as PluginReport | undefined;
    const report = (await known(link.request("reload", { plugin }))) as PluginReport | undefined;
    return { from: before?.version, plugin: report };
  });
}

/** Asks every host that runs with the state folder how the plugin is there. Empty: there is none. */
export function inspectInHosts(stateDir: string, plugin: string): Promise<Inspected[]> {
  return withHosts(stateDir, async (link) => {
    const report = (await known(link.request("inspect", { plugin }))) as PluginReport | undefined;
    const stats = report && ((await link.request("stats", {})) as HostStats);
    return { plugin: report, stats: stats?.plugins.find((one) => one.plugin === plugin) };
  });
}

/** An answer of a host, or why it gave none. */
type Reached<T> = { readonly pid: number; readonly socket: string } & ((T & { readonly error: undefined }) | { readonly error: string });

async function withHosts<T>(stateDir: string, use: (link: ServeLink) => Promise<T>): Promise<Reached<T>[]> {
  const folder = join(stateDir, FOLDER);
  const names = await readdir(folder).catch(() => []);
  const reached = await Promise.all(names.map((name) => withHost(join(folder, name), use)));
  return reached.flatMap((one) => one ?? []);
}

async function withHost<T>(file: string, use: (link: ServeLink) => Promise<T>): Promise<Reached<T> | undefined> {
  const found = parseJson(note, await readFile(file, "utf8").catch(() => undefined));
  if (!found.success) return undefined;
  const { socket, pid } = found.data;
  if (!isAlive(pid)) {
    // It was killed, and could not take it away.
    await rm(file, { force: true });
    return undefined;
  }
  try {
    const link = await ServeLink.open({ path: socket, offers: [], wantsState: false, told() {}, asked: async () => undefined, lost() {} });
    try {
      return { pid, socket, ...(await use(link)), error: undefined };
    } finally {
      await link.close();
    }
  } catch (error) {
    if (!(error instanceof CreelError)) throw error;
    return { pid, socket, error: error.message };
  }
}

/** Undefined: there is no such plugin. */
function known(answer: Promise<unknown>): Promise<unknown> {
  return answer.catch((error: unknown) => {
    if (error instanceof CreelError && error.code === "ERR_PLUGIN_UNKNOWN") return undefined;
    throw error;
  });
}
