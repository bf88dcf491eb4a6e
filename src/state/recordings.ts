/**
 * Trusted side: reads the recordings of a state folder, without a host and without a lock. A line that cannot be parsed (its writer was
 * killed, or is another version of Creel) is skipped and counted.
 */
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { recordedRun, RECORDINGS_FOLDER } from "../protocol/recording.ts";
import type { RecordedRun } from "../protocol/recording.ts";
import { recordingFiles } from "../host/record/recording-files.ts";

export class Recordings {
  readonly #folder: string;
  /** Lines that could not be read so far. */
  unreadable = 0;

  constructor(stateDir: string) {
    this.#folder = join(stateDir, RECORDINGS_FOLDER);
  }

  /** The oldest first. */
  async *runs(since = 0): AsyncGenerator<RecordedRun> {
    for (const name of await recordingFiles(this.#folder)) {
      for await (const line of createInterface({ input: createReadStream(join(this.#folder, name)), crlfDelay: Infinity })) {
        const run = this.#parsed(line);
        if (run && run.at >= since) yield run;
      }
    }
  }

  async find(runId: string): Promise<RecordedRun | undefined> {
    for await (const run of this.runs()) if (run.runId === runId) return run;
    return undefined;
  }

  async isEmpty(): Promise<boolean> {
    for await (const _ of this.runs()) return false;
    return true;
  }

  #parsed(line: string): RecordedRun | undefined {
    if (line === "") return undefined;
    try {
      const { success, data } = recordedRun.safeParse(JSON.parse(line));
      if (success) return data;
    } catch {
      // Counted below.
    }
    this.unreadable += 1;
    return undefined;
  }
}
