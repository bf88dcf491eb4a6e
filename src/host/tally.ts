/** Trusted side: how often each of a plugin's handlers was called since the host was opened, whatever was reloaded meanwhile. */
export interface Tally {
  calls: number;
}

export class Tallies {
  readonly #all = new Map<string, Map<string, Tally>>();

  /** The same object for the same plugin and hook: a call is counted by adding one to it. */
  of(plugin: string, hook: string): Tally {
    let own = this.#all.get(plugin);
    if (!own) this.#all.set(plugin, (own = new Map()));
    let tally = own.get(hook);
    if (!tally) own.set(hook, (tally = { calls: 0 }));
    return tally;
  }

  plugins(): string[] {
    return [...this.#all.keys()];
  }

  /** By hook, without those that were never called. */
  calls(plugin: string): Record<string, number> {
    const called = [...(this.#all.get(plugin) ?? [])].filter(([, { calls }]) => calls > 0);
    return Object.fromEntries(called.map(([hook, { calls }]) => [hook, calls]));
  }
}
