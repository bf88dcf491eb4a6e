/**
 * Trusted side: which process works on a row of a shared database. Two gateways may share a state folder, and one of them may die in the
 * middle of its work. Then the other gateway, or the same one after a restart, must take the work over, but not while it goes on.
 */
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { isAlive } from "../../os/is-alive.ts";

/** Leases of this process. */
const own = new Set<string>();

export class Lease {
  readonly name = `${hostname()}/${process.pid}/${randomBytes(6).toString("base64url")}`;

  constructor() {
    own.add(this.name);
  }

  end(): void {
    own.delete(this.name);
  }
}

/** Undefined: the lease belongs to another machine, which cannot be checked from here. */
export function isLeaseAlive(name: string): boolean | undefined {
  const [machine, pid] = name.split("/");
  if (machine !== hostname()) return undefined;
  // An earlier process may have had the same number: in a container it usually has.
  return Number(pid) === process.pid ? own.has(name) : isAlive(Number(pid));
}
