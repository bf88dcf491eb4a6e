/** Grants and revokes: only the lock changes, in one step, and it says who did it. */
import { acceptedBy, keysOf } from "../../install/keys.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { State } from "../../state/state.ts";
import { who } from "./who.ts";

export async function changePermissions(state: State, id: string, action: "grant" | "revoke", keys: readonly string[]): Promise<void> {
  await state.transaction(
    (tx) => {
      const entry = tx.get(id);
      if (!entry) throw new CreelError("ERR_STATE_UNKNOWN", { plugin: id });
      const before = keysOf(entry);
      for (const key of keys)
        if (action === "revoke" && !before.includes(key))
          throw new CreelError("ERR_INSTALL_GRANT", { key, hint: ": it is not granted", known: before.join(", ") || "there is none" });
      const after = action === "grant" ? new Set([...before, ...keys]) : before.filter((key) => !keys.includes(key));
      tx.update(id, { ...acceptedBy(after, before), accepted: { ...entry.accepted, by: who(), at: new Date().toISOString() } });
    },
    { what: `creel permissions ${action} ${id}` },
  );
}
