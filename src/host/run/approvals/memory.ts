/**
 * Trusted side: what users have allowed always. An "always" answers the same request again and no other: the same plugin,
 * tool and agent, the same title and scope, from a handler with the same matcher, of the same code. Other code may ask the same
 * question about other things, so a new version of the plugin asks again. With a state folder it outlives the host.
 */
import { createHash } from "node:crypto";
import { LIMITS } from "../../../protocol/limits.ts";
import type { AlwaysFile, StoredAlways } from "./always-file.ts";

export interface RememberedApproval {
  readonly pluginId: string;
  readonly toolName: string;
  readonly agentId: string | undefined;
  readonly title: string;
  readonly scope?: string;
  /** The tools that the handler is registered for, sorted. Absent: for all. */
  readonly matcher?: readonly string[];
}

/** What to forget: one approval, or, without a title, all that a plugin has for this tool and agent. */
export type RevokedApproval = Omit<RememberedApproval, "title"> & { readonly title?: string | undefined };

interface Remembered {
  readonly approval: RememberedApproval;
  /** The digest of the plugin's code. */
  readonly bundle: string;
  readonly at: number;
}

export class ApprovalMemory {
  readonly #approvals = new Map<string, Remembered>();
  readonly #file: AlwaysFile | undefined;

  constructor(file: AlwaysFile | undefined) {
    this.#file = file;
  }

  /** SECURITY: consent to one version's question is none to another's. test/contract/approval-always.test.ts */
  has(approval: RememberedApproval, bundle: string): boolean {
    this.#refresh();
    const key = keyOf(approval);
    const known = this.#approvals.get(key);
    if (!known || known.bundle === bundle) return known !== undefined;
    this.#change(() => this.#approvals.delete(key));
    return false;
  }

  add(approval: RememberedApproval, bundle: string): void {
    const key = keyOf(approval);
    this.#change(() => {
      this.#approvals.delete(key);
      this.#approvals.set(key, { approval, bundle, at: Date.now() });
      // Past the bound the oldest is asked again.
      if (this.#approvals.size > LIMITS.approval.always) this.#approvals.delete(this.#approvals.keys().next().value!);
      return true;
    });
  }

  list(): RememberedApproval[] {
    this.#refresh();
    return Array.from(this.#approvals.values(), ({ approval }) => approval);
  }

  /** True: there was something to forget. */
  revoke(revoked: RevokedApproval): boolean {
    return this.#change(() => {
      let found = false;
      for (const [key, { approval }] of this.#approvals) if (isMeant(revoked, approval)) found = this.#approvals.delete(key);
      return found;
    });
  }

  /** Made anew if another host writes at the same moment. `make` says whether there was something to change; so does the result. */
  #change(make: () => boolean): boolean {
    do {
      this.#refresh();
      if (!make()) return false;
    } while (!this.#write());
    return true;
  }

  /** Another host with the same state folder may have written meanwhile. */
  #refresh(): void {
    const stored = this.#file?.changed();
    if (!stored) return;
    this.#approvals.clear();
    for (const { bundle, at, ...rest } of stored) {
      const approval: RememberedApproval = { ...rest, agentId: rest.agentId };
      this.#approvals.set(keyOf(approval), { approval, bundle, at });
    }
  }

  #write(): boolean {
    if (!this.#file) return true;
    return this.#file.write(
      Array.from(
        this.#approvals.values(),
        ({ approval: { agentId, scope, matcher, pluginId, toolName, title }, bundle, at }): StoredAlways => ({
          pluginId,
          toolName,
          ...(agentId !== undefined && { agentId }),
          title,
          ...(scope !== undefined && { scope }),
          ...(matcher && { matcher: [...matcher] }),
          bundle,
          at,
        }),
      ),
    );
  }
}

/** A short name for one, the same in every process: `creel approvals revoke` takes it. */
export function rememberedId(approval: RememberedApproval): string {
  return createHash("sha256").update(keyOf(approval)).digest("hex").slice(0, 8);
}

export function isMeant(revoked: RevokedApproval, approval: RememberedApproval): boolean {
  return revoked.title === undefined ? ownerOf(approval) === ownerOf(revoked) : keyOf(approval) === keyOf(revoked);
}

function ownerOf({ pluginId, toolName, agentId }: RevokedApproval): string {
  return JSON.stringify([pluginId, toolName, agentId ?? null]);
}

function keyOf(approval: RevokedApproval): string {
  const { title, scope, matcher } = approval;
  return JSON.stringify([ownerOf(approval), title, scope ?? null, matcher?.toSorted() ?? null]);
}
