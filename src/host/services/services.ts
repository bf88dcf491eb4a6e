/**
 * Trusted side: what plugins may request from the host. Deny by default: a service answers only if the operator granted
 * it. The plugin sees an error as a code and one line, never as an object, a stack or a path of the host. The time that
 * the gateway's thread works for a request is charged to the plugin (see gateway-time.ts).
 */
import { setImmediate as breath } from "node:timers/promises";
import { CreelError } from "../../protocol/errors.ts";
import { fitsBytes } from "../../transport/frames.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import { isBounded } from "../../protocol/rules/json-bounds.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { oneLine } from "../../text/one-line.ts";
import type { Plugin } from "../plugins/plugin.ts";
import type { ServiceRequest, Service, ServiceGroup } from "./service.ts";
import { isWithin } from "./size.ts";

export interface ServiceResponse {
  readonly ok: boolean;
  /** JSON. */
  readonly text: string;
}

export class Services {
  readonly #groups: readonly ServiceGroup[];
  readonly #services = new Map<string, Service>();
  readonly #pending = new Map<Plugin, number>();

  /** How many there were. */
  requests = 0;

  readonly #onRefused: (plugin: Plugin, service: string, message: string, run: number) => void;

  readonly #onUsed: (plugin: Plugin, service: string) => void;

  /** `onRefused` gets requests for services that were not granted or do not exist; `onUsed` gets answered requests. */
  constructor(
    groups: readonly ServiceGroup[],
    onRefused: (plugin: Plugin, service: string, message: string, run: number) => void = () => {},
    onUsed: (plugin: Plugin, service: string) => void = () => {},
  ) {
    this.#groups = groups;
    this.#onRefused = onRefused;
    this.#onUsed = onUsed;
    for (const { services } of groups) for (const [name, service] of Object.entries(services)) this.#services.set(name, service);
  }

  /** Lets waiting requests through, then ends what is pending. */
  async close(): Promise<void> {
    for (const { gatewayTime } of this.#pending.keys()) gatewayTime.end();
    // Waiting requests start now, so nothing that a cell has written is lost.
    await breath();
    await Promise.all(this.#groups.map(async (group) => group.close?.()));
  }

  left(plugin: Plugin, cell: number): void {
    for (const group of this.#groups) group.left?.(plugin, cell);
  }

  /** Requests that were not answered yet. */
  get pending(): number {
    return [...this.#pending.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Never rejects. */
  async request(plugin: Plugin, cell: number, run: number, name: string, args: string): Promise<ServiceResponse> {
    const pending = this.#pending.get(plugin) ?? 0;
    this.#pending.set(plugin, pending + 1);
    this.requests += 1;
    plugin.gatewayTime.carried(args.length);
    try {
      const service = this.#services.get(name);
      if (pending >= LIMITS.requests.pending && !service?.isOwed)
        throw new CreelError("ERR_SERVICE_BUSY", { limit: LIMITS.requests.pending });
      service?.arrives?.(plugin, cell);
      return await (plugin.gatewayTime.isOver ? this.#later(plugin, cell, run, name, args) : this.#answer(plugin, cell, run, name, args));
    } catch (error) {
      return this.#refusal(plugin, run, name, error);
    } finally {
      const left = (this.#pending.get(plugin) ?? 1) - 1;
      if (left > 0) this.#pending.set(plugin, left);
      else this.#pending.delete(plugin);
    }
  }

  /** Not an async function: a refused request must not keep its text in memory while it waits. */
  #later(plugin: Plugin, cell: number, run: number, name: string, args: string): Promise<ServiceResponse> {
    const { gatewayTime: time, budget, diagnostics } = plugin;
    diagnostics.note("gateway-time", slowed(budget.gatewayMs.value));
    const isOwed = this.#services.get(name)?.isOwed === true;
    // Refuse no sooner than the queue would answer, or the plugin would retry at once.
    if (!isOwed && !time.hasRoom(args.length)) return time.turn().then(() => this.#outOfTime(plugin, run, name));
    return time
      .turn(args.length, isOwed)
      .then((isInTime) => (isInTime ? this.#answer(plugin, cell, run, name, args) : this.#outOfTime(plugin, run, name)));
  }

  async #answer(plugin: Plugin, cell: number, run: number, name: string, args: string): Promise<ServiceResponse> {
    const { gatewayTime: time } = plugin;
    try {
      const answer = (await time.measure(() => this.#begin({ plugin, cell, run }, name, args))) ?? null;
      return time.measure(() => {
        const text = encoded(name, answer);
        time.carried(text.length);
        this.#onUsed(plugin, name);
        return { ok: true, text };
      });
    } catch (error) {
      return time.measure(() => this.#refusal(plugin, run, name, error));
    }
  }

  /** Checks from the cheapest to the most expensive. Throws a CreelError. */
  #begin({ plugin, cell, run }: Omit<ServiceRequest, "args">, name: string, args: string): unknown {
    const service = this.#services.get(name);
    if (!service) throw new CreelError("ERR_SERVICE_UNKNOWN", { service: oneLine(name, 64) });
    const limit = service.maxBytes ?? LIMITS.requests.bytes;
    if (args.length > limit) throw new CreelError("ERR_SERVICE_SIZE", { what: "argument", service: name, bytes: args.length, limit });
    service.permit?.(plugin, args);
    if (!isBounded(args, LIMITS.requests.values, LIMITS.requests.depth))
      throw new CreelError("ERR_SERVICE_ARGUMENT", {
        service: name,
        field: "",
        detail: `it has more than ${LIMITS.requests.values} values, or nests deeper than ${LIMITS.requests.depth}`,
      });
    return service.answer({ plugin, cell, run, args: JSON.parse(args) as unknown });
  }

  #refusal(plugin: Plugin, run: number, name: string, error: unknown): ServiceResponse {
    const code = error instanceof CreelError ? error.code : "ERR_SERVICE_FAILED";
    const message = oneLine(error instanceof Error ? error.message : String(error));
    if (TOLD.has(code)) this.#onRefused(plugin, oneLine(name, 64), message, run);
    return { ok: false, text: JSON.stringify({ code, message }) };
  }

  #outOfTime(plugin: Plugin, run: number, name: string): ServiceResponse {
    const { gatewayTime, budget } = plugin;
    gatewayTime.refused();
    return this.#refusal(plugin, run, name, new CreelError("ERR_SERVICE_TIME", { limit: budget.gatewayMs.value }));
  }
}

const TOLD: ReadonlySet<string> = new Set<ErrorCode>(["ERR_GRANT_MISSING", "ERR_SERVICE_UNKNOWN", "ERR_SERVICE_TIME"]);

function slowed(limitMs: number): string {
  return `its requests wait: they take more than the ${limitMs} ms of the gateway's thread per second that limits.gatewayMs allows`;
}

function encoded(name: string, answer: unknown): string {
  const tooLong = (): CreelError =>
    new CreelError("ERR_SERVICE_SIZE", { what: "answer", service: name, bytes: "too many", limit: LIMITS.call.eventBytes });
  if (!isWithin(answer, LIMITS.call.eventBytes)) throw tooLong();
  const text = JSON.stringify(answer);
  if (!fitsBytes(text, LIMITS.call.eventBytes)) throw tooLong();
  return text;
}
