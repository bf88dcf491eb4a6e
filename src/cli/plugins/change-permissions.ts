/**
 * `creel permissions grant` and `revoke`: the second question for risky grants, and the change of the lock in one step.
 */
import { concernsOf, expectMeant, requestedKeys } from "../../install/review/grant-concerns.ts";
import { acceptedBy, permissionKeysOf } from "../../install/review/permission-keys.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { State } from "../../state/state.ts";
import { commandLine } from "../self.ts";
import { askerAt } from "../ui/question.ts";
import type { Terminal } from "../ui/terminal.ts";
import { isMeant } from "./consent.ts";
import { findInstalled } from "./installed-plugin.ts";
import { currentUser } from "./project.ts";
import type { Project } from "./project.ts";

export async function changePermissions(state: State, id: string, action: "grant" | "revoke", keys: readonly string[]): Promise<void> {
  await state.transaction(
    (tx) => {
      const entry = tx.known(id);
      const before = permissionKeysOf(entry);
      for (const key of keys)
        if (action === "revoke" && !before.includes(key))
          throw new CreelError("ERR_INSTALL_GRANT", { key, hint: ": it is not granted", known: before.join(", ") || "none" });
      const after = action === "grant" ? new Set([...before, ...keys]) : before.filter((key) => !keys.includes(key));
      tx.update(id, { ...acceptedBy(after, before), accepted: { ...entry.accepted, by: currentUser(), at: new Date().toISOString() } });
    },
    { what: `creel permissions ${action} ${id}` },
  );
}

export interface Asking {
  readonly values: { readonly unasked?: boolean; readonly insecure?: boolean; readonly config?: string; readonly "state-dir"?: string };
  readonly isJson: boolean;
  readonly terminal: Terminal;
}

/** False: the person at the terminal said no. Without a terminal, throws an error with the command to use. */
export async function expectAnswered(
  project: Project,
  id: string,
  keys: readonly string[],
  { values, isJson, terminal }: Asking,
): Promise<boolean> {
  const { entry, review } = await findInstalled(project, id);
  const asked = requestedKeys(review?.permissions ?? []);
  const meant = { isUnasked: values.unasked === true, isInsecure: values.insecure === true };
  const concerns = concernsOf(keys, asked, entry);
  const open = concerns.filter(({ isUnasked, isInsecure }) => (isUnasked && !meant.isUnasked) || (isInsecure && !meant.isInsecure));
  const ask = isJson ? undefined : askerAt(() => "Nothing was granted.");
  if (ask) return isMeant(open, ask, terminal.line);
  const { config, "state-dir": stateDir } = values;
  expectMeant(concerns, meant, id, (...flags) =>
    [commandLine(["permissions", "grant", id, ...keys], { config, "state-dir": stateDir }), ...flags].join(" "),
  );
  return true;
}
