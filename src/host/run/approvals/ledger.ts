/**
 * Trusted side: who decided which approval, when and from where. Append-only lines of bounded size in `audit/approvals.jsonl` of the
 * state folder; without one, the latest in memory. It holds titles and a digest, never parameters.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { escapeInJson } from "../../../protocol/dangerous-text.ts";
import { APPROVAL_RESOLUTIONS } from "../../../protocol/hooks/tool.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import { ANSWER_ORIGINS } from "../../../protocol/live-report.ts";
import type { LedgerEntry, LedgerFilter } from "../../../protocol/live-report.ts";
import { AUDIT_FOLDER, AuditFile, auditFiles } from "../../audit/audit-file.ts";
import type { Logger } from "../../report/log.ts";

const NAME = "approvals";
const text = z.string().max(1024);

const line: z.ZodType<LedgerEntry> = z.object({
  seq: z.int().nonnegative(),
  at: z.number(),
  id: text,
  runId: text,
  toolName: z.string(),
  plugins: z.array(text),
  titles: z.array(text),
  digest: text,
  resolution: z.enum(APPROVAL_RESOLUTIONS),
  by: text.exactOptional(),
  from: z.enum([...ANSWER_ORIGINS, "none"]),
  waitedMs: z.number(),
});

export class ApprovalLedger {
  readonly #stateDir: string | undefined;
  readonly #file: AuditFile | undefined;
  readonly #logger: Logger;
  /** The latest of this host, the newest first. Without a state folder there are no others. */
  #recent: LedgerEntry[] = [];
  #seq: number | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(stateDir: string | undefined, logger: Logger) {
    this.#stateDir = stateDir;
    this.#logger = logger;
    this.#file = stateDir === undefined ? undefined : new AuditFile(stateDir, NAME, LIMITS.approval.ledgerBytes, LIMITS.audit.files);
  }

  /** Written soon; `close` waits for it. */
  add(entry: Omit<LedgerEntry, "seq">): void {
    this.#writing = this.#writing.then(async () => {
      this.#seq ??= (await this.#stored())[0]?.seq ?? 0;
      const numbered: LedgerEntry = { seq: (this.#seq += 1), ...entry };
      this.#recent = [numbered, ...this.#recent].slice(0, LIMITS.approval.ledgerRecent);
      try {
        await this.#file?.append(`${escapeInJson(JSON.stringify(numbered))}\n`);
      } catch (error) {
        this.#logger.error({ err: error, id: entry.id, resolution: entry.resolution }, "the approval ledger cannot be written");
      }
    });
  }

  /** The latest first. */
  async list({ plugin, tool, since = 0, limit = LIMITS.approval.ledgerListed }: LedgerFilter = {}): Promise<LedgerEntry[]> {
    await this.#writing;
    const all = this.#file ? await this.#stored() : this.#recent;
    return all
      .filter(
        ({ plugins, toolName, at }) =>
          at >= since && (plugin === undefined || plugins.includes(plugin)) && (tool === undefined || toolName === tool),
      )
      .slice(0, Math.min(limit, LIMITS.approval.ledgerListed));
  }

  async close(): Promise<void> {
    await this.#writing;
  }

  /** The latest first. A line that cannot be read is skipped: its writer was killed, or is another version. */
  async #stored(): Promise<LedgerEntry[]> {
    if (this.#stateDir === undefined) return [];
    const folder = join(this.#stateDir, AUDIT_FOLDER);
    const names = auditFiles(await readdir(folder).catch(() => []), NAME);
    const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8").catch(() => "")));
    return texts.join("\n").split("\n").flatMap(parsed).toReversed();
  }
}

function parsed(stored: string): LedgerEntry[] {
  if (stored === "") return [];
  try {
    const { success, data } = line.safeParse(JSON.parse(stored));
    return success ? [data] : [];
  } catch {
    return [];
  }
}
