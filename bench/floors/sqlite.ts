/** Floor for a read of a plugin's store: a prepared statement of node:sqlite, on the caller's thread. */
import { DatabaseSync } from "node:sqlite";
import { contestant } from "../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../src/cli/bench/contestant.ts";

export function sqliteFloor(): Contestant {
  const database = new DatabaseSync(":memory:");
  database.exec("create table entries (plugin text, key text, value text, primary key (plugin, key)) strict");
  database.prepare("insert into entries values (?, ?, ?)").run("bench-0", "trusted:main", "true");
  const get = database.prepare("select value from entries where plugin = ? and key = ?");
  return contestant(
    "floor: a read of node:sqlite",
    () => get.get("bench-0", "trusted:main"),
    () => database.close(),
  );
}
