/**
 * Trusted side, a gateway: its runs are judged by the hosts of a fleet. The gateway chooses the host. A run whose host has died or hangs is made
 * once more on the next one, as `attempt: 2`; never a third time, since a request that kills hosts must not kill all of them. Whatever else
 * goes wrong is a rejection, for which the failure policy of the hook decides (sdk/remote/away.ts).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { CreelError } from "../../protocol/errors.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { fromWire, toWire } from "../../protocol/serve.ts";
import type { ServeMethod, ServeState } from "../../protocol/serve.ts";
import type { HostLink, LinkOptions, RequestOptions } from "../../sdk/remote/host-link.ts";
import type { Bus, BusMessage } from "../bus.ts";
import { answer, question, read } from "../messages.ts";
import { SUBJECTS } from "../subjects.ts";
import { Hosts } from "./hosts.ts";
import { HostLost, Probes } from "./probes.ts";

interface Pending {
  /** Where it is now. */
  host: string;
  readonly asked: LinkOptions["asked"] | undefined;
  readonly stop: AbortController;
}

interface Params {
  readonly hook?: string;
  readonly event?: unknown;
  readonly ctx?: unknown;
}

interface Job {
  readonly id: number;
  readonly method: ServeMethod;
  readonly params: Params;
  /** The parameters as they were when the request was made. */
  readonly text: string;
  readonly options: RequestOptions;
  readonly pending: Pending;
  /** By performance.now(); undefined: a person may be asked. */
  readonly endMs: number | undefined;
  /** May a second host begin it, when the first may have? */
  readonly mayRepeat: boolean;
}

/** The host has not begun it. */
const NOT_BEGUN: ReadonlySet<ErrorCode> = new Set(["ERR_FLEET_NOBODY", "ERR_HOST_CLOSED", "ERR_SERVE_BUSY"]);

/** Tells who is still asked about a run that it is over. */
const OVER = new CreelError("ERR_SERVE_CANCELLED");

export class FleetLink implements HostLink {
  readonly #options: LinkOptions;
  readonly #bus: Bus;
  readonly #hosts: Hosts;
  readonly #probes: Probes;
  readonly #pending = new Map<number, Pending>();
  readonly #offs: (() => void)[] = [];
  readonly #first = Promise.withResolvers<void>();
  readonly hostId: string;
  #lastId = 0;
  #questions = 0;
  #drained: (() => void) | undefined;
  /** When the connection was lost, and when it came back, by performance.now(). */
  #awayMs = 0;
  #backMs = -Infinity;
  isOpen = true;

  /** Rejects if no host of the fleet says that it is there. The bus is the link's from then on. */
  static async open(options: LinkOptions, bus: Bus, name: string): Promise<FleetLink> {
    const link = new FleetLink(options, bus, name);
    try {
      await link.#open();
      return link;
    } catch (error) {
      await link.close();
      throw error;
    }
  }

  private constructor(options: LinkOptions, bus: Bus, name: string) {
    this.#options = options;
    this.#bus = bus;
    this.hostId = name;
    this.#hosts = new Hosts({ stateOf: (host) => this.#stateOf(host), changed: () => this.#first.resolve() });
    this.#probes = new Probes(
      (host) => bus.request(SUBJECTS.ping(host), "", LIMITS.fleet.probeAnswerMs),
      ({ code }) => code === "ERR_FLEET_AWAY",
    );
  }

  get state(): ServeState | undefined {
    return this.#hosts.state;
  }

  get isBusy(): boolean {
    return this.#pending.size > 0;
  }

  request(method: ServeMethod, params: object | undefined, options: RequestOptions = {}): Promise<unknown> {
    return this.start(method, params, options).answer;
  }

  start(
    method: ServeMethod,
    params: object = {},
    options: RequestOptions = {},
  ): { readonly id: number; readonly answer: Promise<unknown> } {
    const id = ++this.#lastId;
    if (method !== "run" && method !== "call" && method !== "emit")
      return { id, answer: Promise.reject(new CreelError("ERR_SERVE_UNABLE", { what: `${method} in a fleet` })) };
    return { id, answer: this.#do(id, method, params, options) };
  }

  tell(method: ServeMethod, params: Params, cause: string | undefined): void {
    const [host] = this.#hosts.order(sessionOf(params), params.hook ?? method);
    if (host === undefined || !this.#bus.isConnected) throw new CreelError("ERR_FLEET_NOBODY", { subject: SUBJECTS.here("*") });
    this.#bus.publish(SUBJECTS.run(host, this.hostId), envelope({ id: ++this.#lastId, method, cause, offers: [] }, JSON.stringify(params)));
  }

  cancel(): void {}

  setRef(): void {}

  drained(): Promise<void> {
    return this.#pending.size === 0 ? Promise.resolve() : new Promise((resolve) => (this.#drained = resolve));
  }

  async close(): Promise<void> {
    this.isOpen = false;
    for (const off of this.#offs) off();
    await this.#bus.close();
  }

  async #open(): Promise<void> {
    const bus = this.#bus;
    this.#offs.push(
      // SECURITY: the server lets a host publish this subject for its own name alone. test/fleet/permissions.test.ts
      await bus.subscribe(SUBJECTS.here("*"), ({ subject, text }) => this.#hosts.hear(subject.split(".")[2]!, text)),
      await bus.subscribe(SUBJECTS.ask(this.hostId, "*"), (message) => void this.#answer(message)),
      bus.onChange((isConnected) => {
        if (isConnected) {
          this.#backMs = performance.now();
          this.#hosts.reconnected();
          bus.publish(SUBJECTS.who, "");
        } else this.#awayMs = performance.now();
      }),
    );
    bus.publish(SUBJECTS.who, "");
    const late = setTimeout(
      () => this.#first.reject(new CreelError("ERR_FLEET_NOBODY", { subject: SUBJECTS.here("*") })),
      LIMITS.fleet.goneMs,
    );
    await this.#first.promise.finally(() => clearTimeout(late));
  }

  async #stateOf(host: string): Promise<ServeState> {
    const text = envelope({ id: 0, method: "state", offers: [] });
    const said = read(answer, await this.#bus.request(SUBJECTS.run(host, this.hostId), text, LIMITS.fleet.controlMs), Infinity);
    if (!said || "error" in said) throw new CreelError("ERR_FLEET_LATE", { subject: SUBJECTS.run(host, this.hostId) });
    return said.ok as ServeState;
  }

  /** Not before its first `await`: requests leave in the order they were made. */
  async #do(id: number, method: ServeMethod, params: Params, options: RequestOptions): Promise<unknown> {
    const { signal, asked } = options;
    const stop = new AbortController();
    const pending: Pending = { host: "", asked, stop };
    const mayAsk = asked !== undefined || this.#options.offers.includes("requestApproval");
    const wallMs = params.hook === undefined ? undefined : this.#hosts.wallMs(params.hook);
    const job: Job = {
      id,
      method,
      params,
      text: JSON.stringify(params),
      options,
      pending,
      endMs: mayAsk || wallMs === undefined ? undefined : performance.now() + wallMs + LIMITS.fleet.wayMs,
      // Tools, commands and methods act.
      mayRepeat: method !== "call",
    };
    this.#pending.set(id, pending);
    const aborted = Promise.withResolvers<never>();
    aborted.promise.catch(() => {});
    const onAbort = (): void => aborted.reject(signal!.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await Promise.race([this.#route(job), aborted.promise]);
    } finally {
      signal?.removeEventListener("abort", onAbort);
      // A reason of its own: without one, Node makes an error with a stack trace for every run.
      stop.abort(OVER);
      this.#pending.delete(id);
      if (this.#pending.size === 0) this.#drained?.();
    }
  }

  async #route(job: Job): Promise<unknown> {
    const { params, method, mayRepeat, pending } = job;
    const session = sessionOf(params);
    const absent = new Set<string>();
    const tried = new Set<string>();
    for (let attempt = 1; ;) {
      // The caller has gone: nothing more is begun for it.
      if (pending.stop.signal.aborted) throw new CreelError("ERR_SERVE_CANCELLED");
      if (!this.#bus.isConnected) {
        await this.#back(job);
        absent.clear();
      }
      const host = this.#hosts.order(session, params.hook ?? method).find((one) => !absent.has(one) && !tried.has(one));
      if (host === undefined) {
        // Hosts connect again when they can, which may be later than this gateway did.
        if (performance.now() - this.#backMs > LIMITS.fleet.graceMs)
          throw new CreelError("ERR_FLEET_NOBODY", { subject: SUBJECTS.here("*") });
        await this.#pause(job, LIMITS.fleet.reconnectMs);
        absent.clear();
        continue;
      }
      pending.host = host;
      try {
        return await this.#send(host, job, attempt);
      } catch (error) {
        const isLost = error instanceof HostLost;
        const cause = isLost ? error.cause : (error as CreelError);
        if (isLost || cause.code === "ERR_FLEET_NOBODY") this.#hosts.lost(host);
        if (!isLost && NOT_BEGUN.has(cause.code)) {
          absent.add(host);
          continue;
        }
        if (!isLost && cause.code !== "ERR_FLEET_AWAY") throw cause;
        if (attempt === 2 || !mayRepeat) throw cause;
        attempt = 2;
        if (isLost) tried.add(host);
      }
    }
  }

  async #send(host: string, { id, method, text, options, endMs }: Job, attempt: number): Promise<unknown> {
    const { cause, traceparent } = options;
    const subject = SUBJECTS.run(host, this.hostId);
    const ms = endMs === undefined ? undefined : endMs - performance.now();
    if (ms !== undefined && ms <= 0) throw new CreelError("ERR_FLEET_LATE", { subject });
    const numbered = method === "run" && attempt > 1 ? `{"attempt":${attempt},${text.slice(1)}` : text;
    const message = envelope({ id, method, cause, traceparent, ms, offers: this.#options.offers }, numbered);
    if (Buffer.byteLength(message) > this.#bus.server.maxPayload)
      throw new CreelError("ERR_SERVE_FRAME", { detail: "the request is too large: set max_payload of nats-server" });
    const lost = Promise.withResolvers<never>();
    lost.promise.catch(() => {});
    const unwatch = this.#probes.watch(host, lost.reject);
    try {
      const asked = this.#bus.request(subject, message, ms ?? LIMITS.fleet.personMs);
      asked.catch(() => {});
      const said = read(answer, await Promise.race([asked, lost.promise]), Infinity);
      if (!said) throw new CreelError("ERR_SERVE_FRAME", { detail: "the host's answer is not valid" });
      if ("error" in said) throw fromWire(said.error);
      return said.ok ?? undefined;
    } finally {
      unwatch();
    }
  }

  /** Resolves when the connection is back; rejects when that takes longer than the grace. */
  async #back(job: Job): Promise<void> {
    while (!this.#bus.isConnected) {
      if (!this.isOpen || performance.now() - this.#awayMs > LIMITS.fleet.graceMs) throw new CreelError("ERR_FLEET_AWAY");
      await this.#pause(job, LIMITS.fleet.reconnectMs / 5);
    }
  }

  async #pause({ endMs }: Job, ms: number): Promise<void> {
    if (endMs !== undefined && performance.now() > endMs) throw new CreelError("ERR_FLEET_AWAY");
    await sleep(ms);
  }

  /** SECURITY: a question about a run is answered only for the host that has it. test/fleet/remote.test.ts */
  async #answer({ subject, text, respond }: BusMessage): Promise<void> {
    const asked = read(question, text, this.#bus.server.maxPayload);
    if (!asked) return;
    const { run } = asked;
    const pending = run === undefined ? undefined : this.#pending.get(run);
    const isTheirs = run === undefined || pending?.host === subject.split(".")[4];
    const answers = run === undefined ? this.#options.asked : pending?.asked;
    const { signal } = pending?.stop ?? new AbortController();
    let said: object;
    try {
      if (!isTheirs) throw new CreelError("ERR_SERVE_FAILED", { detail: "the gateway has no such run there" });
      const ok = await answers?.({ ...asked, question: ++this.#questions }, signal);
      said = { ok: ok ?? null };
    } catch (error) {
      said = { error: toWire(error) };
    }
    respond(JSON.stringify(said));
  }
}

function envelope(fields: object, params?: string): string {
  const text = JSON.stringify(fields);
  return params === undefined ? text : `${text.slice(0, -1)},"params":${params}}`;
}

/** Runs of a session meet the same host; those without one are spread. */
function sessionOf({ event, ctx }: Params): string {
  for (const from of [ctx, event] as ({ sessionKey?: unknown; sessionId?: unknown } | null | undefined)[]) {
    if (typeof from?.sessionKey === "string") return from.sessionKey;
    if (typeof from?.sessionId === "string") return from.sessionId;
  }
  return String(Math.random());
}
