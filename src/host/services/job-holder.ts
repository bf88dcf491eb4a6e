/**
 * Trusted side: who has begun a job. Two gateways may share a state folder, and one may have died in the middle of a job: then the other, or its own
 * next life, must take the job up, and must not while it is still being done.
 */
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";

/** Those of this process. */
const alive = new Set<string>();

export class JobHolder {
  readonly name = `${hostname()}/${process.pid}/${randomBytes(6).toString("base64url")}`;

  constructor() {
    alive.add(this.name);
  }

  end(): void {
    alive.delete(this.name);
  }
}

/** Undefined: it cannot be seen from here. */
export function isHolderAlive(holder: string): boolean | undefined {
  const [machine, pid] = holder.split("/");
  if (machine !== hostname()) return undefined;
  // A former life of this process may have had the same number: in a container it usually has.
  if (Number(pid) === process.pid) return alive.has(holder);
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
