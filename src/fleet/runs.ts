/**
 * Trusted side: a host of a fleet judges runs for gateways on other machines. The server lets only gateways publish here; what they send is
 * checked all the same, and what they can make grow is bounded. What a plugin asks of the gateway goes back to the gateway that made the run.
 */
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { fromWire, SERVE_PARAMS, toWire } from "../protocol/serve.ts";
import type { Offer, RequestId } from "../protocol/serve.ts";
import type { CoreHost } from "../host/host.ts";
import type { CallbackClient, Callbacks } from "../serve/callbacks.ts";
import { METHODS, stateOf } from "../serve/methods.ts";
import { firstIssue } from "../text/schema-issue.ts";
import type { Bus, BusMessage } from "./bus.ts";
import { answer, read, runRequest } from "./messages.ts";
import type { RunRequest } from "./messages.ts";
import { SUBJECTS } from "./subjects.ts";

export class Runs {
  readonly #bus: Bus;
  readonly #host: CoreHost;
  readonly #callbacks: Callbacks;
  readonly #name: string;
  readonly #gateways = new Map<string, Gateway>();
  #pending = 0;
  #drained: (() => void) | undefined;

  constructor(bus: Bus, host: CoreHost, callbacks: Callbacks, name: string) {
    this.#bus = bus;
    this.#host = host;
    this.#callbacks = callbacks;
    this.#name = name;
  }

  /** Returns the function that takes no more, and waits for what has begun. */
  async open(): Promise<() => Promise<void>> {
    const offs = [
      await this.#bus.subscribe(SUBJECTS.ping(this.#name), ({ respond }) => respond("{}")),
      await this.#bus.subscribe(SUBJECTS.run(this.#name, "*"), (message) => void this.#answer(message)),
    ];
    return async () => {
      // Runs that have begun here are still asked after: only new ones go elsewhere.
      offs[1]!();
      if (this.#pending > 0)
        await Promise.race([
          new Promise<void>((resolve) => (this.#drained = resolve)),
          new Promise<void>((resolve) => setTimeout(resolve, LIMITS.sandbox.drainMs).unref()),
        ]);
      offs[0]!();
      for (const gateway of this.#gateways.values()) this.#callbacks.delete(gateway);
    };
  }

  async #answer({ subject, text, respond }: BusMessage): Promise<void> {
    this.#pending += 1;
    let said: string;
    try {
      if (this.#pending > LIMITS.serve.pending) throw new CreelError("ERR_SERVE_BUSY", { limit: LIMITS.serve.pending });
      said = JSON.stringify({ ok: (await this.#do(subject.split(".")[4]!, text)) ?? null });
    } catch (error) {
      said = JSON.stringify({ error: toWire(error) });
    }
    this.#pending -= 1;
    const large = { error: toWire(new CreelError("ERR_SERVE_FRAME", { detail: "the answer is too large for the fleet's server" })) };
    respond(Buffer.byteLength(said) < this.#bus.server.maxPayload ? said : JSON.stringify(large));
    if (this.#pending === 0) this.#drained?.();
  }

  /** SECURITY: the name of the gateway is the subject's, which the server holds it to. test/fleet/remote.test.ts */
  #do(name: string, text: string): unknown {
    const request = read(runRequest, text, this.#bus.server.maxPayload);
    if (!request) throw new CreelError("ERR_SERVE_FRAME", { detail: "it is no request of a gateway" });
    const { method, cause, traceparent, ms } = request;
    if (method === "state") return stateOf(this.#host);
    const params = SERVE_PARAMS[method].safeParse(request.params);
    if (!params.success)
      throw new CreelError("ERR_SERVE_FRAME", {
        detail: `the parameters of ${method} are not valid at "${firstIssue(params.error).field}"`,
      });
    const gateway = this.#gatewayOf(name, request);
    // After that, the gateway does not wait any more.
    const signal = ms === undefined ? NEVER : AbortSignal.timeout(Math.ceil(ms));
    const own = (): unknown =>
      METHODS[method](this.#host, params.data as never, {
        signal,
        update() {},
        requestApproval: this.#callbacks.approvalsOf(gateway, request.id),
        offerAnswers() {},
      });
    const served = (): unknown => this.#host.servedTo(gateway.name, own);
    const work = traceparent === undefined ? served : (): unknown => this.#host.tracedUnder(traceparent, served);
    return cause === undefined ? work() : this.#host.rejoin(cause, work);
  }

  #gatewayOf(name: string, { offers }: RunRequest): Gateway {
    let gateway = this.#gateways.get(name);
    if (!gateway) {
      gateway = new Gateway(this.#bus, name, this.#name);
      this.#gateways.set(name, gateway);
      this.#callbacks.add(gateway);
    }
    gateway.offers = new Set(offers);
    return gateway;
  }
}

const NEVER = new AbortController().signal;

/** A gateway that has made a run here. */
class Gateway implements CallbackClient {
  readonly #bus: Bus;
  readonly #subject: string;
  readonly name: string;
  offers: ReadonlySet<Offer> = new Set();

  constructor(bus: Bus, id: string, host: string) {
    this.#bus = bus;
    this.#subject = SUBJECTS.ask(id, host);
    this.name = `gateway-${id}`;
  }

  async request(ask: Offer, params: object, cause: string | undefined, signal?: AbortSignal, run?: RequestId): Promise<unknown> {
    const stopped = Promise.withResolvers<never>();
    stopped.promise.catch(() => {});
    const onAbort = (): void => stopped.reject(signal!.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    // A person may take long: the approval's own time limit ends it.
    const timeoutMs = ask === "requestApproval" ? LIMITS.fleet.personMs : LIMITS.fleet.askMs;
    try {
      const asked = this.#bus.request(this.#subject, JSON.stringify({ ask, params, cause, run }), timeoutMs);
      asked.catch(() => {});
      const said = read(answer, await Promise.race([asked, stopped.promise]));
      if (!said) throw new CreelError("ERR_SERVE_FRAME", { detail: `the answer to ${ask} is not valid` });
      if ("error" in said) throw fromWire(said.error);
      return said.ok ?? undefined;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }
}
