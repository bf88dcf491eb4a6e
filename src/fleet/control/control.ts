/**
 * Trusted side: what an operator may ask a host of the fleet: the methods of `creel serve` that look, and those that switch a plugin. The server
 * lets only operators publish here; what they send is checked all the same.
 */
import { CreelError } from "../../protocol/errors.ts";
import { FACT_NAMES } from "../../protocol/fact-names.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { SERVE_PARAMS, toWire } from "../../protocol/serve.ts";
import type { EventFilter, ServeMethod } from "../../protocol/serve.ts";
import { firstIssue } from "../../text/schema-issue.ts";
import type { Host } from "../../host/host-api.ts";
import { matchesFilter } from "../../serve/event-filter.ts";
import { METHODS } from "../../serve/methods.ts";
import type { RequestContext } from "../../serve/methods.ts";
import type { Bus, BusMessage } from "../bus.ts";
import { controlRequest, read } from "../messages.ts";
import { SUBJECTS } from "../subjects.ts";

/** SECURITY: nothing that runs a hook, calls a plugin or answers an approval. test/fleet/control.test.ts */
const ALLOWED = [
  "plugins",
  "inspect",
  "reload",
  "disable",
  "release",
  "runs",
  "runDetail",
  "stats",
  "subscribe",
] as const satisfies ServeMethod[];

export class Control {
  readonly #bus: Bus;
  readonly #host: Host;
  readonly #name: string;
  /** Ends what an operator watches. */
  #watched: (() => void) | undefined;

  constructor(bus: Bus, host: Host, name: string) {
    this.#bus = bus;
    this.#host = host;
    this.#name = name;
  }

  /** Returns the function that ends it. */
  async open(): Promise<() => void> {
    const off = await this.#bus.subscribe(SUBJECTS.control(this.#name), (message) => void this.#answer(message));
    return () => {
      off();
      this.#watched?.();
    };
  }

  async #answer({ text, respond }: BusMessage): Promise<void> {
    let answer: object;
    try {
      answer = { ok: (await this.#do(text)) ?? null };
    } catch (error) {
      answer = { error: toWire(error) };
    }
    const said = JSON.stringify(answer);
    const limit = Math.min(LIMITS.fleet.messageBytes, this.#bus.server.maxPayload);
    const large = { error: toWire(new CreelError("ERR_SERVE_FRAME", { detail: "the answer is too large for the fleet's server" })) };
    respond(Buffer.byteLength(said) < limit ? said : JSON.stringify(large));
  }

  #do(text: string): unknown {
    const request = read(controlRequest, text);
    const method = ALLOWED.find((name) => name === request?.method);
    if (!method)
      throw new CreelError("ERR_SERVE_FRAME", { detail: `an operator cannot ask a host of a fleet for "${request?.method ?? "this"}"` });
    const params = SERVE_PARAMS[method].safeParse(request!.params);
    if (!params.success)
      throw new CreelError("ERR_SERVE_FRAME", {
        detail: `the parameters of ${method} are not valid at "${firstIssue(params.error).field}"`,
      });
    if (method === "subscribe") return this.#watch(params.data as EventFilter);
    return METHODS[method](this.#host, params.data as never, NO_CLIENT);
  }

  /** Publishes facts for a while; an operator who still watches asks again. */
  #watch(filter: EventFilter): void {
    this.#watched?.();
    const offs = (filter.facts ?? FACT_NAMES).map((fact) =>
      this.#host.on(fact, (event) => {
        if (matchesFilter(filter, fact, event)) this.#bus.publish(SUBJECTS.fact(this.#name, fact), JSON.stringify(event));
      }),
    );
    const timer = setTimeout(() => this.#watched?.(), LIMITS.fleet.watchMs).unref();
    this.#watched = () => {
      clearTimeout(timer);
      for (const off of offs) off();
    };
  }
}

/** These methods ask the client nothing. */
const NO_CLIENT: RequestContext = {
  signal: new AbortController().signal,
  update() {},
  requestApproval: () => Promise.reject(new CreelError("ERR_SERVE_UNABLE", { what: "an approval" })),
  offerAnswers() {},
};
