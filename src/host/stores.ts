/**
 * Trusted side: where a host keeps what must survive it: entries (`api.kv`), jobs, files, quarantine, audit. `localStores` are files in the
 * state folder of this machine, or memory without one. The parts of a host know only these interfaces and no path, so that a store that
 * several hosts share is another implementation; today that is `kv` alone (services/kv/shared-kv.ts).
 */
import { join } from "node:path";
import { LIMITS } from "../protocol/limits.ts";
import { AuditFile } from "./audit/audit-file.ts";
import { QuarantineFile } from "./blame/quarantine-file.ts";
import type { Logger } from "./report/log.ts";
import { Volume } from "./services/files/volume.ts";
import type { VolumeOptions } from "./services/files/volume.ts";
import { databaseName } from "./services/kv/kv.ts";
import type { SharedKv } from "./services/kv/kv.ts";
import { ScheduleDatabase } from "./services/schedule/schedule-database.ts";
import type { ScheduleDatabaseOptions } from "./services/schedule/schedule-database.ts";

export type JobStore = Pick<ScheduleDatabase, "put" | "cancel" | "list" | "begin" | "isAnyDue" | "next" | "end" | "release" | "close">;
export type VolumeStore = Pick<Volume, "contents" | "lastUse" | "use" | "begin" | "apply" | "close">;
export type QuarantineStore = Pick<QuarantineFile, "read" | "set">;
export type AuditSink = Pick<AuditFile, "append" | "appendNow">;

/** What a store reports to the operator. */
type Reports<Options> = Omit<Options, "path" | "maxBytes">;

export interface Stores {
  /** False: all of it is gone when the process ends. */
  readonly isPersistent: boolean;
  /** Entries that several hosts share; undefined: each plugin has a file of its own. */
  readonly kv: SharedKv | undefined;
  /** `path` is for the operator's log. */
  jobs(reports: (path: string | undefined) => Reports<ScheduleDatabaseOptions>): JobStore;
  volume(plugin: string, maxBytes: number, reports: (path: string | undefined) => Reports<VolumeOptions>): VolumeStore;
  /** Undefined: a restart lets plugins out. */
  quarantine(logger: Logger): QuarantineStore | undefined;
  /** Undefined: nothing is written. `name`: `runs` or `state`. */
  audit(name: "runs" | "state", maxBytes: number): AuditSink | undefined;
}

/** `stateDir` undefined: in memory. */
export function localStores(stateDir: string | undefined, kv?: SharedKv): Stores {
  const pathOf = (...names: string[]): string | undefined => (stateDir === undefined ? undefined : join(stateDir, ...names));
  return {
    isPersistent: stateDir !== undefined,
    kv,
    jobs: (reports) => {
      const path = pathOf("schedule.sqlite");
      return new ScheduleDatabase({ ...reports(path), path });
    },
    volume: (plugin, maxBytes, reports) => {
      const path = pathOf("volumes", `${databaseName(plugin)}.sqlite`);
      return new Volume({ ...reports(path), path, maxBytes });
    },
    quarantine: (logger) => (stateDir === undefined ? undefined : new QuarantineFile(stateDir, logger)),
    audit: (name, maxBytes) => (stateDir === undefined ? undefined : new AuditFile(stateDir, name, maxBytes, LIMITS.audit.files)),
  };
}
