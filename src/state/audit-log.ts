/**
 * Trusted side: reads the audit log of a state folder. Needs no host and takes no lock, because writers append whole
 * lines. A line that cannot be parsed (its writer was killed, or is another version of Creel) is skipped and counted.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { AUDIT_FOLDER, auditFiles } from "../host/audit/audit-file.ts";
import { auditRun, auditState, auditUsage } from "../protocol/audit-line.ts";
import type { AuditRequest, AuditRun, AuditState, AuditUsage } from "../protocol/audit-line.ts";
import { common } from "../host/audit/usage.ts";

/** What a plugin has used, over the whole log. */
export interface UsageSum {
  /** Undefined: the log has nothing about it. */
  readonly since: string | undefined;
  readonly until: string | undefined;
  /** By hook or kind of function. */
  readonly calls: ReadonlyMap<string, number>;
  readonly used: ReadonlyMap<string, number>;
  readonly fetch: readonly AuditRequest[];
  readonly refused: ReadonlyMap<string, number>;
  readonly refusedFetch: readonly AuditRequest[];
  /** Requests to further origins. */
  readonly more: number;
}

export class AuditLog {
  readonly dir: string;
  /** Lines that could not be read so far. */
  unreadable = 0;

  constructor(stateDir: string) {
    this.dir = join(stateDir, AUDIT_FOLDER);
  }

  /** The latest first, each run once. `text`: only lines that contain it. */
  async *runs(text = ""): AsyncGenerator<AuditRun> {
    const seen = new Set<string>();
    for await (const line of this.#lines("runs", text)) {
      const { success, data } = auditRun.safeParse(line);
      if (!success) this.unreadable += 1;
      else if (!seen.has(data.runId)) {
        seen.add(data.runId);
        yield data;
      }
    }
  }

  /** What happened to plugins and the sandbox, the latest first. */
  async *states(): AsyncGenerator<AuditState> {
    for await (const line of this.#lines("state")) {
      const { success, data } = auditState.safeParse(line);
      if (success) yield data;
      else if (kindOf(line) !== "usage") this.unreadable += 1;
    }
  }

  async usage(plugin: string): Promise<UsageSum> {
    // The latest line of a host includes its earlier ones.
    const last = new Map<string, AuditUsage>();
    for await (const line of this.#lines("state", JSON.stringify(plugin))) {
      if (kindOf(line) !== "usage") continue;
      const { success, data } = auditUsage.safeParse(line);
      if (!success) this.unreadable += 1;
      else if (data.plugin === plugin && !last.has(data.host)) last.set(data.host, data);
    }
    const all = [...last.values()];
    return {
      since: all.map(({ since }) => since).toSorted()[0],
      until: all
        .map(({ at }) => at)
        .toSorted()
        .at(-1),
      calls: sum(all.map(({ calls }) => calls)),
      used: sum(all.map(({ used }) => used)),
      fetch: joined(all.flatMap(({ fetch }) => fetch)),
      refused: sum(all.map(({ refused }) => refused)),
      refusedFetch: joined(all.flatMap(({ refusedFetch }) => refusedFetch)),
      more: all.reduce((count, { more = 0 }) => count + more, 0),
    };
  }

  async *#lines(name: string, text = ""): AsyncGenerator {
    for (const file of auditFiles(await namesIn(this.dir), name).toReversed()) {
      const content = await readFile(join(this.dir, file), "utf8").catch(goneSince);
      for (const line of content.split("\n").toReversed()) {
        if (line === "" || !line.includes(text)) continue;
        try {
          yield JSON.parse(line);
        } catch {
          this.unreadable += 1;
        }
      }
    }
  }
}

function kindOf(line: unknown): unknown {
  return typeof line === "object" && line !== null && "kind" in line ? line.kind : undefined;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/**
 * The oldest file was deleted to make room, or a full file was renamed: then its lines are read later or not at all.
 */
function goneSince(error: unknown): string {
  if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
  throw error;
}

function sum(counts: readonly Readonly<Record<string, number>>[]): Map<string, number> {
  const total = new Map<string, number>();
  for (const [key, count] of counts.flatMap((one) => Object.entries(one))) total.set(key, (total.get(key) ?? 0) + count);
  return total;
}

function joined(requests: readonly AuditRequest[]): AuditRequest[] {
  const all = new Map<string, AuditRequest>();
  for (const one of requests) {
    const key = `${one.method} ${one.origin}`;
    const known = all.get(key);
    all.set(key, known ? { ...known, path: common(known.path, one.path), count: known.count + one.count } : one);
  }
  return [...all.values()];
}
