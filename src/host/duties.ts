/**
 * Trusted side: what plugins do without being called, crons and services, and which of several hosts does it. A host alone does all of it, and
 * has no duties. A host of a fleet asks the others (src/fleet/duties) once it has joined them; before that crons wait, and services are not
 * started. A job with a delay is not shared: only the host that was asked for it has it.
 */

/** "taken": another host has it. "unknown": that cannot be asked now. */
export type Claimed = "mine" | "taken" | "unknown";

/** One time of a cron. Hosts tell crons apart by these. */
export interface Occurrence {
  readonly plugin: string;
  readonly id: string;
  readonly pattern: string;
  readonly timezone: string | null;
  readonly due: number;
}

export interface SharedDuties {
  /** Never rejects. */
  claim(occurrence: Occurrence): Promise<Claimed>;
  /** This host could serve the services of a plugin. `assigned` is told at each change. Returns the function that ends it. */
  serve(plugin: string, assigned: (isMine: boolean) => void): () => void;
}

interface Wish {
  readonly plugin: string;
  readonly assigned: (isMine: boolean) => void;
  end: (() => void) | undefined;
}

export class Duties implements SharedDuties {
  readonly #wishes = new Set<Wish>();
  #shared: SharedDuties | undefined;

  /** The host has joined the others. */
  join(shared: SharedDuties): void {
    this.#shared = shared;
    for (const wish of this.#wishes) wish.end = shared.serve(wish.plugin, wish.assigned);
  }

  claim(occurrence: Occurrence): Promise<Claimed> {
    return this.#shared?.claim(occurrence) ?? Promise.resolve("unknown");
  }

  serve(plugin: string, assigned: (isMine: boolean) => void): () => void {
    const wish: Wish = { plugin, assigned, end: undefined };
    this.#wishes.add(wish);
    wish.end = this.#shared?.serve(plugin, assigned);
    return () => {
      this.#wishes.delete(wish);
      wish.end?.();
    };
  }
}
