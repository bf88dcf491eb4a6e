/**
 * Trusted side, a thread without other work: moves the content of a database's log into its file. That waits for the
 * disk, which blocks only this thread.
 */
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { parentPort } from "node:worker_threads";

parentPort!.on("message", (path: string) => {
  try {
    const file = pathToFileURL(path);
    // Does not create a missing file.
    file.search = "?mode=rw";
    const database = new DatabaseSync(file, { timeout: 0 });
    // Passive: never blocks another connection.
    database.exec("PRAGMA synchronous = NORMAL; PRAGMA wal_checkpoint(PASSIVE)");
    database.close();
  } catch {
    // The next user of the database sees the error, and the next checkpoint is soon.
  }
  parentPort!.postMessage(path);
});
