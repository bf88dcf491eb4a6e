/** A plugin that was not installed, as the hosts that run with the state folder report it. Texts are the plugin's, or the operator's. */
import type { PluginStats } from "../../protocol/live-report.ts";
import type { Inspected } from "../../serve/running-hosts.ts";
import { disableKey, permissionsKey } from "../../text/plugin-keys.ts";
import { oneLine } from "../../text/one-line.ts";
import type { Terminal } from "../ui/terminal.ts";
import { kilobytes } from "./review-page.ts";

type Report = NonNullable<Inspected["plugin"]>;

const LABEL = 12;

export function runningPage(id: string, hosts: readonly Inspected[], { line, paint }: Terminal): void {
  const row = (what: string, text: string): void => line(`  ${paint("gray", what.padEnd(LABEL))}${oneLine(text, 1_000)}`);
  line(`${paint("bold", id)} is not installed; this is what the host that runs says of it`);
  for (const { pid, plugin, stats } of hosts) {
    if (!plugin) continue;
    line();
    line(paint("bold", `Host ${pid}`));
    row("state", `${plugin.status}${plugin.version === undefined ? "" : `, version ${plugin.version}`}`);
    if (plugin.error) row("error", plugin.error.message);
    row("breaker", `${plugin.circuit.state}${plugin.circuit.why === undefined ? "" : `: ${plugin.circuit.why}`}`);
    row("lane", `${plugin.lane}: ${plugin.slowWhy ?? plugin.lanePlacement}`);
    for (const [name, { value, origin }] of Object.entries(plugin.budget)) row(name, `${String(value)} (${origin})`);
    const { kv, volume } = plugin;
    if (kv) row("store", `${sizeOf(kv.bytes)} of ${kilobytes(kv.maxBytes)}, ${kv.keys ?? "unknown"} keys`);
    if (volume) row("files", `${sizeOf(volume.bytes)} of ${kilobytes(volume.maxBytes)}, ${volume.files ?? "unknown"} files`);
    row("hooks", plugin.hooks.map(({ hook }) => hook).join(", ") || "none");
    for (const [at, text] of permissionWords(plugin, stats).entries()) row(at === 0 ? "permissions" : "", text);
  }
  line();
  line(`To change it: ${disableKey(id)} and ${permissionsKey(id)} in creel.json, or where its gateway names it.`);
}

function permissionWords({ permissions }: Report, stats: PluginStats | undefined): string[] {
  if (permissions.length === 0) return ["none"];
  return permissions.map(({ key }) => {
    const used = stats?.permissions.find((one) => one.key === key);
    return `${key}: ${used ? `${used.uses} uses, the last at ${new Date(used.lastUsedAt).toISOString()}` : "no use known since the host was opened"}`;
  });
}

function sizeOf(bytes: number | undefined): string {
  return bytes === undefined ? "unknown" : kilobytes(bytes);
}
