/** Trusted side, a thread of its own: moves what a store's log holds into its file. That waits for the disk, and here nobody waits for it. */
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { parentPort } from "node:worker_threads";

parentPort!.on("message", (path: string) => {
  try {
    const file = pathToFileURL(path);
    // One that is gone is not made again.
    file.search = "?mode=rw";
    const database = new DatabaseSync(file, { timeout: 0 });
    // Passive: as far as it gets without being in anybody's way.
    database.exec("PRAGMA synchronous = NORMAL; PRAGMA wal_checkpoint(PASSIVE)");
    database.close();
  } catch {
    // Whoever works on the store finds out; the next time is soon.
  }
  parentPort!.postMessage(path);
});
