/** Trusted side: what the file system and SQLite say about the state folder, as an error with a remedy. */
import { CreelError } from "../protocol/errors.ts";

export async function guarded<T>(dir: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { syscall, code } = error as NodeJS.ErrnoException;
    if (syscall === undefined && code !== "ERR_SQLITE_ERROR") throw error;
    throw new CreelError("ERR_STATE_IO", { dir, detail: (error as Error).message }, { cause: error });
  }
}
