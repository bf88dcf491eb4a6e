/**
 * Trusted side: what plugins may ask of the host. Deny by default: a service answers only if the operator granted it. Whatever
 * goes wrong here reaches the plugin as a code and one line, never as an object, a stack or a path of ours.
 */
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { oneLine } from "../guest-error.ts";
import type { Plugin } from "../plugin.ts";
import type { Service, ServiceGroup } from "./service.ts";
import { isWithin } from "./size.ts";

export interface Answered {
  readonly ok: boolean;
  /** JSON. */
  readonly text: string;
}

export class Services {
  readonly #groups: readonly ServiceGroup[];
  readonly #services = new Map<string, Service>();
  readonly #pending = new Map<Plugin, number>();

  readonly #onRefused: (plugin: Plugin, service: string, message: string) => void;

  readonly #onUsed: (plugin: Plugin, service: string) => void;

  /** `onRefused` is told of what was not granted, and of what is not there; `onUsed` of what was done. */
  constructor(
    groups: readonly ServiceGroup[],
    onRefused: (plugin: Plugin, service: string, message: string) => void = () => {},
    onUsed: (plugin: Plugin, service: string) => void = () => {},
  ) {
    this.#groups = groups;
    this.#onRefused = onRefused;
    this.#onUsed = onUsed;
    for (const { services } of groups) for (const [name, service] of Object.entries(services)) this.#services.set(name, service);
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    await Promise.all(this.#groups.map(async (group) => group.close?.()));
  }

  left(plugin: Plugin, cell: number): void {
    for (const group of this.#groups) group.left?.(plugin, cell);
  }

  /** Never rejects. */
  async ask(plugin: Plugin, cell: number, run: number, name: string, args: string): Promise<Answered> {
    const pending = this.#pending.get(plugin) ?? 0;
    this.#pending.set(plugin, pending + 1);
    try {
      const service = this.#services.get(name);
      if (pending >= LIMITS.pendingAsks && !service?.isOwed) throw new CreelError("ERR_SERVICE_BUSY", { limit: LIMITS.pendingAsks });
      if (!service) throw new CreelError("ERR_SERVICE_UNKNOWN", { service: oneLine(name, 64) });
      const limit = service.maxBytes ?? LIMITS.askBytes;
      if (args.length > limit) throw new CreelError("ERR_SERVICE_SIZE", { what: "argument", service: name, bytes: args.length, limit });
      const answer = (await service.answer({ plugin, cell, run, args: JSON.parse(args) as unknown })) ?? null;
      const tooLong = new CreelError("ERR_SERVICE_SIZE", { what: "answer", service: name, bytes: "too many", limit: LIMITS.eventBytes });
      if (!isWithin(answer, LIMITS.eventBytes)) throw tooLong;
      const text = JSON.stringify(answer);
      if (text.length > LIMITS.eventBytes) throw tooLong;
      this.#onUsed(plugin, name);
      return { ok: true, text };
    } catch (error) {
      const code = error instanceof CreelError ? error.code : "ERR_SERVICE_FAILED";
      const message = error instanceof Error ? error.message : String(error);
      if (code === "ERR_GRANT_MISSING" || code === "ERR_SERVICE_UNKNOWN") this.#onRefused(plugin, oneLine(name, 64), oneLine(message));
      return { ok: false, text: JSON.stringify({ code, message: oneLine(message) }) };
    } finally {
      const left = (this.#pending.get(plugin) ?? 1) - 1;
      if (left > 0) this.#pending.set(plugin, left);
      else this.#pending.delete(plugin);
    }
  }
}
