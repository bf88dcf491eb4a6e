/**
 * Trusted side: files in the kernel's memory that a sandbox process shares with the gateway (protocol/letter-box.ts). Each has a name for a moment only, which
 * nobody could have guessed, and nobody else may open it; then it is there as long as either side has it open.
 */
import { randomBytes } from "node:crypto";
import { closeSync, constants, ftruncateSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { LETTER_FILE_BYTES, LetterBox, letterFiles } from "../../protocol/letter-box.ts";

/** A file system that is all memory, wherever there is a Linux. */
const FOLDER = "/dev/shm";

/** What one side writes and the other reads. */
interface Shared {
  readonly writer: number;
  readonly reader: number;
}

/** A lane's letters, both ways. */
export interface LaneLetters {
  readonly box: LetterBox;
  /** What the lane is given: to read the host's, to write its own. */
  readonly lane: readonly [reader: number, writer: number];
  close(): void;
}

/** Undefined: not to be had here, and lanes do without. */
export function openLetters(): LaneLetters | undefined {
  const [host, lane] = [openShared(), openShared()];
  let isOpen = true;
  const close = (): void => {
    // A descriptor that was closed may be another's by now.
    if (isOpen) for (const file of [host, lane]) if (file) for (const fd of Object.values(file) as number[]) closeSync(fd);
    isOpen = false;
  };
  if (host && lane) {
    const box = new LetterBox(letterFiles(host.writer, lane.reader, { readSync, writeSync, ftruncateSync }));
    return { box, lane: [host.reader, lane.writer], close };
  }
  close();
  return undefined;
}

function openShared(): Shared | undefined {
  if (process.platform !== "linux") return undefined;
  const path = `${FOLDER}/creel-${randomBytes(16).toString("hex")}`;
  const opened: number[] = [];
  const open = (flags: number): number => {
    const fd = openSync(path, flags, 0o600);
    opened.push(fd);
    return fd;
  };
  try {
    const writer = open(constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW);
    const reader = open(constants.O_RDONLY);
    unlinkSync(path);
    // Where there is no room now, there will be none later.
    writeSync(writer, Buffer.alloc(LETTER_FILE_BYTES), 0, LETTER_FILE_BYTES, 0);
    ftruncateSync(writer, 0);
    // SECURITY: each side has what the other writes to read only, and the host never reads what it wrote itself. test/host/fences.test.ts
    return { writer, reader };
  } catch {
    for (const fd of opened) closeSync(fd);
    return undefined;
  }
}
