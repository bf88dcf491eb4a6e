/**
 * Trusted side, a gateway: the hosts of the fleet as they say it themselves, and which of them judges a session. The choice is a rendezvous
 * hash: a session keeps its host while that is there, and only the sessions of a host that has gone move.
 */
import { hash } from "node:crypto";
import { LIMITS } from "../../protocol/limits.ts";
import type { ServeState } from "../../protocol/serve.ts";
import { here, read } from "../messages.ts";
import type { Here } from "../messages.ts";

interface Known {
  said: Here;
  heardMs: number;
  state: ServeState | undefined;
  /** Its process has ended, or nothing listens there: until it says that it is there again. */
  isLost: boolean;
}

export interface HostsOptions {
  /** What gateways know of a host. Rejects if it cannot be had now. */
  stateOf(host: string): Promise<ServeState>;
  /** A state has come. */
  changed(): void;
}

export class Hosts {
  readonly #options: HostsOptions;
  readonly #known = new Map<string, Known>();
  /** Silence counts from here: while the connection was gone, nothing could arrive. */
  #connectedMs = performance.now();
  /** What the host that last sent something has said. */
  state: ServeState | undefined;

  constructor(options: HostsOptions) {
    this.#options = options;
  }

  hear(host: string, text: string): void {
    const said = read(here, text);
    if (!said) return;
    const before = this.#known.get(host);
    const isSame = before?.state !== undefined && before.said.run === said.run && before.said.state === said.state;
    this.#known.set(host, { said, heardMs: performance.now(), state: before?.state, isLost: false });
    if (isSame) this.state = before.state;
    else void this.#fetch(host, said);
  }

  reconnected(): void {
    this.#connectedMs = performance.now();
    for (const known of this.#known.values()) known.isLost = false;
  }

  lost(host: string): void {
    const known = this.#known.get(host);
    if (known) known.isLost = true;
  }

  /** All that are there, first the one that judges this session. Those whose breaker is open for a plugin that listens come last. */
  order(session: string, hook: string): string[] {
    const since = performance.now() - LIMITS.fleet.goneMs;
    const found: { readonly host: string; readonly rank: string }[] = [];
    for (const [host, known] of this.#known) {
      if (known.isLost || Math.max(known.heardMs, this.#connectedMs) < since) continue;
      found.push({ host, rank: `${isBroken(known, hook) ? 1 : 0}${rankOf(host, session)}` });
    }
    return found.toSorted((a, b) => (a.rank < b.rank ? -1 : 1)).map(({ host }) => host);
  }

  /** How long the handlers of a hook may take together; undefined: not known. */
  wallMs(hook: string): number | undefined {
    if (!this.state) return undefined;
    let sum = 0;
    for (const { hooks } of this.state.plugins as unknown as readonly Reported[])
      for (const { hook: name, budget } of hooks ?? []) if (isMeant(name, hook)) sum += budget?.wallMs?.value ?? LIMITS.call.maxWallMs;
    return sum;
  }

  async #fetch(host: string, { run, state: version }: Here): Promise<void> {
    try {
      const state = await this.#options.stateOf(host);
      const known = this.#known.get(host);
      // It has changed meanwhile: the next one is on its way.
      if (!known || known.said.run !== run || known.said.state !== version) return;
      known.state = state;
      this.state = state;
      this.#options.changed();
    } catch {
      // It says twice a second that it is there, and is asked again then.
    }
  }
}

/** The lowest of all hosts judges the session. scripts/fleet-capacity.ts */
export function rankOf(host: string, session: string): string {
  return hash("sha1", `${host} ${session}`);
}

/** The part of a plugin's report that this file reads. Hosts are trusted by their gateways, and may be of another version. */
interface Reported {
  readonly id: string;
  readonly hooks?: readonly { readonly hook: string; readonly budget?: { readonly wallMs?: { readonly value?: number } } }[];
}

function isBroken({ said, state }: Known, hook: string): boolean {
  const open = said.plugins.filter(({ circuit }) => circuit === "open");
  if (open.length === 0) return false;
  const listening = new Set(
    ((state?.plugins ?? []) as unknown as readonly Reported[]).flatMap(({ id, hooks }) =>
      hooks?.some(({ hook: name }) => isMeant(name, hook)) ? id : [],
    ),
  );
  return open.some(({ id }) => listening.has(id));
}

/** A handler may listen to a whole family. */
function isMeant(name: string, hook: string): boolean {
  return name === hook || hook.startsWith(`${name}:`);
}
