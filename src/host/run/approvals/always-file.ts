/**
 * Trusted side: `approvals.json` in the state folder: what users have allowed always, so that a restart does not make them answer again.
 * A change is written at once and atomically, on the gateway's thread: it is rare and small, and the process may die the next moment.
 * Several hosts may share the folder, so a reader looks whether the file has changed: what one host revokes, none uses any more.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { LIMITS } from "../../../protocol/limits.ts";
import { firstIssue } from "../../../text/schema-issue.ts";
import type { Logger } from "../../report/log.ts";

const VERSION = 1;
const text = z.string().max(LIMITS.call.eventBytes);

const entry = z.object({
  pluginId: text,
  toolName: text,
  agentId: text.exactOptional(),
  title: text,
  scope: text.exactOptional(),
  matcher: z.array(text).exactOptional(),
  /** The digest of the plugin's code when the user answered. */
  bundle: text,
  at: z.number(),
});
export type StoredAlways = z.infer<typeof entry>;

const content = z.object({ version: z.literal(VERSION), always: z.array(entry).max(LIMITS.approval.always) });

export class AlwaysFile {
  readonly path: string;
  readonly #logger: Logger;
  /** Tells one version of the file from another. */
  #mark = "";

  constructor(stateDir: string, logger: Logger) {
    this.path = join(stateDir, "approvals.json");
    this.#logger = logger;
  }

  /** Undefined: as it was when this was last called, or not readable. A broken file counts as empty and is set aside. */
  changed(): StoredAlways[] | undefined {
    const mark = this.#look();
    if (mark === this.#mark) return undefined;
    this.#mark = mark;
    if (mark === "none") return [];
    try {
      const parsed = content.safeParse(JSON.parse(readFileSync(this.path, "utf8")));
      if (parsed.success) return parsed.data.always;
      const { field, detail } = firstIssue(parsed.error);
      return this.#setAside(`${field}: ${detail}`);
    } catch (error) {
      return this.#setAside((error as Error).message);
    }
  }

  /**
   * False: another host has written since `changed` was last called; nothing was written, and the change is to be made anew.
   * SECURITY: or what it has revoked would come back. test/host/run/approvals/always-file.test.ts
   */
  write(always: readonly StoredAlways[]): boolean {
    try {
      mkdirSync(dirname(this.path), { recursive: true });
      const temporary = `${this.path}.${process.pid}.tmp`;
      writeFileSync(temporary, `${JSON.stringify({ version: VERSION, always }, undefined, 2)}\n`, { mode: 0o600 });
      if (this.#look() !== this.#mark) {
        rmSync(temporary);
        return false;
      }
      renameSync(temporary, this.path);
      this.#mark = this.#look();
    } catch (error) {
      this.#logger.error({ path: this.path, err: error }, "what was allowed always cannot be written: it ends with this host");
    }
    return true;
  }

  #look(): string {
    const found = statSync(this.path, { throwIfNoEntry: false, bigint: true });
    return found ? `${found.ino} ${found.size} ${found.mtimeNs}` : "none";
  }

  #setAside(detail: string): StoredAlways[] {
    const aside = `${this.path}.broken-${Date.now()}`;
    try {
      renameSync(this.path, aside);
      this.#mark = "none";
      this.#logger.warn({ path: this.path, aside, detail }, "the file of what was allowed always is broken and was set aside");
    } catch (error) {
      this.#logger.error({ path: this.path, err: error, detail }, "the file of what was allowed always cannot be read");
    }
    return [];
  }
}
