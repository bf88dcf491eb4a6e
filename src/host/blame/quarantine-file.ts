/**
 * Trusted side: `quarantine.json` in the state folder: which plugins are in quarantine, so that a restart does not let them out.
 * A change is written at once and atomically, on the gateway's thread: it is rare and small, and the process may die the next moment.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { LIMITS } from "../../protocol/limits.ts";
import { pluginId } from "../../protocol/rules/plugin-id.ts";
import { handlerOptions, registration } from "../../protocol/rules/registration.ts";
import { firstIssue } from "../../text/schema-issue.ts";
import type { Logger } from "../report/log.ts";

const VERSION = 1;
const ms = z.number().nonnegative();
/** Breakers quarantine long before that; the host did not write a file with more. */
const times = z.array(ms).max(64);

export const quarantineEntry = z.object({
  /** The digest of the bundle it is about: other code is another plugin. */
  bundle: z.string().max(128),
  state: z.enum(["closed", "open", "quarantined"]),
  why: z.string().max(2 * LIMITS.call.errorMessageChars),
  since: ms,
  until: ms.optional(),
  opens: times,
  kills: times,
  loadKills: z.int().nonnegative(),
  /** What it registered: its code is not loaded, and its gates must still fail by their policy. Undefined: it has never loaded. */
  handlers: registration.shape.handlers.element.extend({ options: handlerOptions.strip() }).array().max(LIMITS.plugin.handlers).optional(),
});
export type QuarantineEntry = z.infer<typeof quarantineEntry>;

const content = z.object({ version: z.literal(VERSION), plugins: z.record(pluginId, quarantineEntry) });

export class QuarantineFile {
  readonly path: string;
  readonly #logger: Logger;

  constructor(stateDir: string, logger: Logger) {
    this.path = join(stateDir, "quarantine.json");
    this.#logger = logger;
  }

  /** Empty when there is no file. A file that cannot be parsed is renamed, where the operator finds it. */
  read(): Map<string, QuarantineEntry> {
    return this.#read() ?? new Map();
  }

  /** `entry` undefined: forgets the plugin. Another host may have written meanwhile: its entries for other plugins stay. */
  set(id: string, value: QuarantineEntry | undefined): void {
    const plugins = this.#read();
    if (!plugins || (!value && !plugins.has(id))) return;
    plugins.delete(id);
    try {
      if (value) plugins.set(id, quarantineEntry.parse(value));
      mkdirSync(dirname(this.path), { recursive: true });
      const temporary = `${this.path}.${process.pid}.tmp`;
      writeFileSync(temporary, `${JSON.stringify({ version: VERSION, plugins: Object.fromEntries(plugins) }, undefined, 2)}\n`);
      renameSync(temporary, this.path);
    } catch (error) {
      this.#complain("the quarantine file cannot be written", error);
    }
  }

  /** Undefined: the file exists but cannot be read; then it must not be overwritten either. */
  #read(): Map<string, QuarantineEntry> | undefined {
    let text: string;
    try {
      text = readFileSync(this.path, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return new Map();
      this.#complain("the quarantine file cannot be read", error);
      return undefined;
    }
    try {
      const parsed = content.safeParse(JSON.parse(text));
      if (parsed.success) return new Map(Object.entries(parsed.data.plugins));
      const { field, detail } = firstIssue(parsed.error);
      return this.#setAside(`${field}: ${detail}`);
    } catch (error) {
      return this.#setAside((error as Error).message);
    }
  }

  #setAside(detail: string): Map<string, QuarantineEntry> {
    const aside = `${this.path}.broken-${Date.now()}`;
    try {
      renameSync(this.path, aside);
      this.#logger.warn({ path: this.path, aside, detail }, "the quarantine file is broken and was set aside");
    } catch (error) {
      this.#complain("the quarantine file is broken and cannot be set aside", error);
    }
    return new Map();
  }

  /** The quarantine then ends with the process. */
  #complain(message: string, error: unknown): void {
    this.#logger.error({ path: this.path, err: error }, message);
  }
}
