/**
 * Untrusted side, lane thread: measures which cell takes the process's memory. V8's own numbers do not tell, because
 * they do not include what its libraries allocate (ICU, compiled regular expressions). So the lane asks the kernel
 * before and after every turn, but only while the process takes so much memory that it matters (lane-status.ts). A
 * turn's growth is how much the process grew, but no more than this thread touched for the first time, since other
 * lanes grow, too.
 */
import type { LaneStatus } from "../../../transport/lane-status.ts";
import { OWN_STAT } from "../../../transport/inherited-fds.ts";
import { readStat } from "../../process/thread-clock.ts";

// Not imported, see lane/thread.ts.
const { openSync, readSync } = process.getBuiltinModule("node:fs");

/** How many cells are counted separately; further cells count as "others". */
const CELLS = 4_096;
const LINE = Buffer.alloc(1024);
const bytesOf = new Map<number, number>();
let all = 0;
let fd: number | undefined;
let beforeTouched = 0;
let beforeRss = 0;

export function beginTurn(): void {
  const now = look();
  beforeTouched = now.touchedBytes;
  beforeRss = now.rssBytes;
}

export function endTurn(cell: number, laneStatus: LaneStatus): void {
  const { touchedBytes, rssBytes } = look();
  const grown = Math.min(rssBytes - beforeRss, touchedBytes - beforeTouched);
  all += grown;
  if (bytesOf.has(cell) || bytesOf.size < CELLS) bytesOf.set(cell, (bytesOf.get(cell) ?? 0) + grown);
  let [top, most] = [cell, bytesOf.get(cell) ?? 0];
  for (const [other, bytes] of bytesOf) if (bytes > most) [top, most] = [other, bytes];
  laneStatus.grew(top, most, all - most);
}

/** The cell was disposed of, which freed its memory. */
export function forgetCell(cell: number): void {
  all -= bytesOf.get(cell) ?? 0;
  bytesOf.delete(cell);
}

function look(): { touchedBytes: number; rssBytes: number } {
  try {
    fd ??= openSync(OWN_STAT, "r");
    return readStat(LINE.toString("latin1", 0, readSync(fd, LINE, 0, LINE.length, 0)));
  } catch {
    return { touchedBytes: 0, rssBytes: 0 };
  }
}
