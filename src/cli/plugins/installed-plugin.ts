/** An installed plugin as the lock, the store and the configuration describe it. Starts nothing. */
import { settled } from "../../protocol/config/permission-key.ts";
import { permissionKeysOf } from "../../install/review/permission-keys.ts";
import { REVIEW, review as reviewSchema, reviewHooks } from "../../install/review/review.ts";
import type { Review, ReviewHook } from "../../install/review/review.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { Grants } from "../../protocol/config/config.ts";
import { unknownPlugin } from "../../state/lock-file.ts";
import type { LockEntry } from "../../state/lock.ts";
import type { Project } from "./project.ts";

export interface Known {
  readonly entry: LockEntry;
  /** The granted permission keys. */
  readonly permissions: readonly string[];
  /** The review that the operator accepted. */
  readonly review: Review | undefined;
  /** All of its hooks fail closed, by creel.json or by the accepted review. */
  readonly isRequired: boolean;
  /** Its hooks, and what a failure of each means now. */
  readonly hooks: readonly ReviewHook[];
  /** Grants of the creel.json, which override the accepted ones. */
  readonly configGrants: Grants | undefined;
  /** Why it cannot be loaded. */
  readonly fault: string | undefined;
  readonly fix: string | undefined;
}

export async function findInstalled({ state, config }: Project, id: string): Promise<Known> {
  const installed = await state.read();
  const entry = installed.get(id);
  if (!entry) throw unknownPlugin(id, installed);
  const { grants: configGrants, required = entry.permissions.required } = settled(config.plugins?.entries?.[id] ?? {});
  const isRequired = required === true;
  const hooks = reviewHooks(entry.hooks, { isRequired, failure: config.hooks?.failure });
  const known = { entry, permissions: permissionKeysOf(entry), configGrants, isRequired, hooks };
  try {
    const { files } = await state.load(id);
    const text = files.get(REVIEW)?.toString();
    const review = text === undefined ? undefined : reviewSchema.safeParse(JSON.parse(text)).data;
    return { ...known, review, fault: undefined, fix: undefined };
  } catch (error) {
    if (!(error instanceof CreelError)) throw error;
    return { ...known, review: undefined, fault: error.message, fix: error.fix };
  }
}
