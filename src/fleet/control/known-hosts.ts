/**
 * Trusted side, an operator's command: which hosts of the fleet have reported before, in `fleet-hosts.json` of the operator's state folder. A host
 * that is silent now says nothing of itself: only an earlier report can name it.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { LIMITS } from "../../protocol/limits.ts";
import { parseJson } from "../../text/parse-json.ts";

/** By name: when it last reported, in milliseconds since 1970. */
const known = z.record(z.string(), z.number());

/** Those that have reported within a week. A file that cannot be read counts as none: it is only what a person is reminded of. */
export function readKnownHosts(stateDir: string, now: number): Record<string, number> {
  let text: string;
  try {
    text = readFileSync(fileOf(stateDir), "utf8");
  } catch {
    return {};
  }
  const parsed = parseJson(known, text);
  const all = parsed.success ? parsed.data : {};
  return Object.fromEntries(Object.entries(all).filter(([, at]) => now - at < LIMITS.fleet.rememberMs));
}

export function writeKnownHosts(stateDir: string, hosts: Readonly<Record<string, number>>): void {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const temporary = `${fileOf(stateDir)}.${process.pid}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(hosts, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, fileOf(stateDir));
}

function fileOf(stateDir: string): string {
  return join(stateDir, "fleet-hosts.json");
}
