/** Trusted side: the stores of the plugins that the operator wants shared. Loaded only in hosts with `kv.postgres`. */
import type { Logger } from "../../report/log.ts";
import { FailureLog } from "../../storage/failure-log.ts";
import type { SharedKv } from "./kv.ts";
import { PostgresKv } from "./postgres-kv.ts";
import { SharedDatabase } from "./postgres.ts";

/** `shared`: the ids of plugins, or all. Throws when the client for the database is not installed. */
export async function sharedKv(url: string, shared: true | readonly string[], logger: Logger): Promise<SharedKv> {
  const failures = new FailureLog((err, more) => logger.error({ err, ...more }, "the shared kv database failed"));
  const database = await SharedDatabase.open({ url, onFailure: (error) => failures.failed(error) });
  return {
    isShared: (plugin) => shared === true || shared.includes(plugin),
    store: (plugin, maxBytes) => new PostgresKv({ database, plugin, maxBytes }),
    close: () => database.close(),
  };
}
