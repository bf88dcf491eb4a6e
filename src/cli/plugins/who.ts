/** Who is at the keyboard, for the lock. */
import { hostname, userInfo } from "node:os";

export function who(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    // A user without an entry, as in some containers.
    return `${process.getuid?.() ?? "somebody"}@${hostname()}`;
  }
}
