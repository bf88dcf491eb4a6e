/**
 * Trusted side: files in the kernel's memory that a sandbox process shares with the gateway (protocol/letter-box.ts). Each has a name for a moment only, which
 * nobody could have guessed, and nobody else may open it; then it is there as long as either side has it open.
 */
import { randomBytes } from "node:crypto";
import { closeSync, constants, ftruncateSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { LETTER_FILE_BYTES, LetterBox, letterFiles } from "../../protocol/letter-box.ts";
import type { FilePair, LaneFiles } from "../../protocol/letter-box.ts";

/** A file system that is all memory, wherever there is a Linux. */
const FOLDER = "/dev/shm";

/** What one side writes and the other reads. */
interface Shared {
  readonly writers: FilePair;
  readonly readers: FilePair;
}

/** A lane's letters, both ways. */
export interface LaneLetters {
  readonly box: LetterBox;
  readonly lane: LaneFiles;
  close(): void;
}

/** Undefined: not to be had here, and lanes do without. */
export function openLetters(): LaneLetters | undefined {
  if (process.platform !== "linux") return undefined;
  const opened: number[] = [];
  const close = (): void => {
    // A descriptor that was closed may be another's by now.
    for (const fd of opened.splice(0)) closeSync(fd);
  };
  try {
    const [host, lane] = [openShared(opened), openShared(opened)];
    tryRoom(host.writers[0]);
    const box = new LetterBox(letterFiles(host.writers, lane.readers, { readSync, writeSync, ftruncateSync }));
    return { box, lane: { readers: host.readers, writers: lane.writers }, close };
  } catch {
    close();
    return undefined;
  }
}

/** SECURITY: each side has what the other writes to read only, and the host never reads what it wrote itself. test/host/fences.test.ts */
function openShared(opened: number[]): Shared {
  const [one, two] = [openFile(opened), openFile(opened)];
  return { writers: [one.writer, two.writer], readers: [one.reader, two.reader] };
}

function openFile(opened: number[]): { writer: number; reader: number } {
  const path = `${FOLDER}/creel-${randomBytes(16).toString("hex")}`;
  const open = (flags: number): number => {
    const fd = openSync(path, flags, 0o600);
    opened.push(fd);
    return fd;
  };
  const writer = open(constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW);
  const reader = open(constants.O_RDONLY);
  unlinkSync(path);
  return { writer, reader };
}

/** Where there is no room for one of them now, there will be none later. It is given back at once, so one tells as much as all of them, of which each takes as long as opening all. */
function tryRoom(writer: number): void {
  const written = writeSync(writer, Buffer.alloc(LETTER_FILE_BYTES), 0, LETTER_FILE_BYTES, 0);
  if (written < LETTER_FILE_BYTES) throw new RangeError("there is no room for letters");
  ftruncateSync(writer, 0);
}
