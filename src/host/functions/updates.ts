/** Trusted side: passes the progress that a tool reports on to the caller of the tool. */
import { isShallow } from "../../protocol/messages/functions.ts";
import type { Plugin } from "../plugins/plugin.ts";
import type { ServiceGroup } from "../services/service.ts";

interface Listener {
  readonly plugin: string;
  tell(update: unknown): void;
}

export class Updates {
  /** By the number of the run. */
  readonly #listeners = new Map<number, Listener>();

  listen(run: number, plugin: string, tell: (update: unknown) => void): () => void {
    this.#listeners.set(run, { plugin, tell });
    return () => void this.#listeners.delete(run);
  }

  /** SECURITY: a plugin reports the progress of its own calls and of no others. test/contract/functions.test.ts */
  tell(run: number, plugin: Plugin, update: unknown): void {
    const listener = this.#listeners.get(run);
    if (listener?.plugin === plugin.id && isShallow(update)) listener.tell(update);
  }
}

export function updateServices(updates: Updates): ServiceGroup {
  return {
    services: {
      "function.update": {
        answer: ({ plugin, run, args }) => updates.tell(run, plugin, (args as { update?: unknown } | null)?.update),
      },
    },
  };
}
