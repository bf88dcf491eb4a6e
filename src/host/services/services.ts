/**
 * Trusted side: what plugins may ask of the host. Deny by default: a service answers only if the operator granted it. Whatever
 * goes wrong here reaches the plugin as a code and one line, never as an object, a stack or a path of ours.
 */
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Causes } from "../causes.ts";
import { oneLine } from "../guest-error.ts";
import type { Plugin } from "../plugin.ts";
import type { RecursionGuard } from "../recursion.ts";
import { Fetches } from "./fetch.ts";
import type { Sessions } from "./session.ts";
import { isWithin } from "./size.ts";

export interface Answered {
  readonly ok: boolean;
  /** JSON. */
  readonly text: string;
}

export class Services {
  readonly #sessions: Sessions;
  readonly #causes: Causes;
  readonly #guard: RecursionGuard;
  readonly #fetches = new Fetches();
  readonly #pending = new Map<Plugin, number>();

  constructor(sessions: Sessions, causes: Causes, guard: RecursionGuard) {
    this.#sessions = sessions;
    this.#causes = causes;
    this.#guard = guard;
  }

  /** Ends what is under way. */
  close(): void {
    this.#fetches.close();
  }

  /** Never rejects. */
  async ask(plugin: Plugin, run: number, service: string, args: string): Promise<Answered> {
    const pending = this.#pending.get(plugin) ?? 0;
    this.#pending.set(plugin, pending + 1);
    try {
      if (pending >= LIMITS.pendingAsks) throw new CreelError("ERR_SERVICE_BUSY", { limit: LIMITS.pendingAsks });
      // A body may be as long as an event, everything else is short.
      const limit = service === "fetch" ? LIMITS.eventBytes : LIMITS.askBytes;
      if (args.length > limit)
        throw new CreelError("ERR_SERVICE_SIZE", { what: "argument", service: oneLine(service, 64), bytes: args.length, limit });
      const answer = (await this.#answer(plugin, run, service, JSON.parse(args))) ?? null;
      const tooLong = new CreelError("ERR_SERVICE_SIZE", { what: "answer", service, bytes: "too many", limit: LIMITS.eventBytes });
      if (!isWithin(answer, LIMITS.eventBytes)) throw tooLong;
      const text = JSON.stringify(answer);
      if (text.length > LIMITS.eventBytes) throw tooLong;
      return { ok: true, text };
    } catch (error) {
      const code = error instanceof CreelError ? error.code : "ERR_SERVICE_FAILED";
      const message = error instanceof Error ? error.message : String(error);
      return { ok: false, text: JSON.stringify({ code, message: oneLine(message) }) };
    } finally {
      this.#pending.set(plugin, (this.#pending.get(plugin) ?? 1) - 1);
    }
  }

  async #answer(plugin: Plugin, run: number, service: string, args: unknown): Promise<unknown> {
    switch (service) {
      case "session.get":
        granted(plugin, "get");
        return this.#sessions.get(args);
      case "session.patch":
        granted(plugin, "patch");
        return this.#sessions.patchBy(plugin.id, args, this.#causes.next(run, plugin.id));
      case "fetch": {
        const chain = this.#causes.next(run, plugin.id);
        return this.#fetches.fetch(plugin, args, {
          check: () => this.#guard.checkRequest(plugin.id, chain),
          token: () => this.#causes.token(chain),
        });
      }
      default:
        throw new CreelError("ERR_SERVICE_UNKNOWN", { service: oneLine(service, 64) });
    }
  }
}

function granted({ id, grants }: Plugin, what: "get" | "patch"): void {
  if (!grants.session?.includes(what))
    throw new CreelError("ERR_GRANT_MISSING", { service: `session.${what}`, plugin: id, grant: `session: ["${what}"]` });
}
