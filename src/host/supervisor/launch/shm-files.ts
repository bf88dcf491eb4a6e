/**
 * Trusted side: opens the files in /dev/shm that the gateway shares with a sandbox process (transport/shm-channel.ts).
 * Each has an unguessable name for a moment only, and only this user may open it. Once unlinked, it exists as long as
 * either side has it open.
 */
import { randomBytes } from "node:crypto";
import { closeSync, constants, ftruncateSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { SHM_FILE_BYTES, ShmChannel, shmFiles } from "../../../transport/shm-channel.ts";
import type { FilePair, LaneShmFds } from "../../../transport/shm-channel.ts";

/** A file system in memory that every Linux has. */
const FOLDER = "/dev/shm";

/** Files that one side writes and the other reads. */
interface Shared {
  readonly writers: FilePair;
  readonly readers: FilePair;
}

/** A lane's channel: the host's end, and what the lane inherits. */
export interface LaneShm {
  readonly channel: ShmChannel;
  readonly lane: LaneShmFds;
  close(): void;
}

/** Undefined: this system has no such files, and lanes do without. */
export function openShmChannel(): LaneShm | undefined {
  if (process.platform !== "linux") return undefined;
  const opened: number[] = [];
  const close = (): void => {
    // The kernel may have reused the number of a closed descriptor.
    for (const fd of opened.splice(0)) closeSync(fd);
  };
  try {
    const [host, lane] = [openShared(opened), openShared(opened)];
    tryRoom(host.writers[0]);
    const channel = new ShmChannel(shmFiles(host.writers, lane.readers, { readSync, writeSync, ftruncateSync }));
    return { channel, lane: { readers: host.readers, writers: lane.writers }, close };
  } catch {
    close();
    return undefined;
  }
}

/**
 * SECURITY: each side can only read what the other writes, and the host never reads what it wrote itself.
 * test/host/supervisor/launch/wrappers.test.ts
 */
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

/**
 * Throws where /dev/shm has no room for a file at its longest. Trying one file is enough: the memory is given back at
 * once, and each try takes as long as opening all.
 */
function tryRoom(writer: number): void {
  const written = writeSync(writer, Buffer.alloc(SHM_FILE_BYTES), 0, SHM_FILE_BYTES, 0);
  if (written < SHM_FILE_BYTES) throw new RangeError("no room for shared memory");
  ftruncateSync(writer, 0);
}
