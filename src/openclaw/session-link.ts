/**
 * Trusted side: `api.session` of sandboxed plugins. Reads come from the gateway's runtime; patches go through a client on the loopback
 * interface, because only that way does the gateway check them and emit `session:patch`. The gateway's token stays in here.
 */
import type { SessionEntry, SessionPatch } from "../host/services/session/session.ts";
import type { Fields, GatewayApi, GatewayConnection, GatewaySdk } from "./gateway-api.ts";

const CONNECT_MS = 10_000;
const REQUEST_MS = 15_000;
/** How long the gateway's own event of a patch may take to arrive. */
const ECHO_MS = 5_000;
const DEFAULT_PORT = 18_789;

interface Echo {
  /** The patch as JSON. */
  readonly patch: string;
  readonly token: string;
  readonly untilMs: number;
}

export class SessionLink {
  readonly #api: GatewayApi;
  readonly #sdk: () => Promise<GatewaySdk>;
  readonly #cause: () => string | undefined;
  /** Causes of patches whose event has not come yet, in their order. */
  readonly #echoes: Echo[] = [];
  /** Causes of events that came: all listeners of an event are told the same. */
  readonly #known = new WeakMap<object, string>();
  #connection: Promise<GatewayConnection> | undefined;

  constructor(api: GatewayApi, sdk: () => Promise<GatewaySdk>, cause: () => string | undefined) {
    this.#api = api;
    this.#sdk = sdk;
    this.#cause = cause;
  }

  async get(key: string): Promise<SessionEntry | undefined> {
    return this.#api.runtime.agent?.session?.getSessionEntry({ sessionKey: key, readConsistency: "latest" });
  }

  /** The gateway emits `session:patch` itself; the cause of this patch is kept until that event arrives. */
  async patch(patch: SessionPatch): Promise<{ sessionEntry: SessionEntry; emitted: true }> {
    const token = this.#cause();
    const echo = token === undefined ? undefined : { patch: JSON.stringify(patch), token, untilMs: Date.now() + ECHO_MS };
    if (echo) this.#echoes.push(echo);
    try {
      const connection = await this.#connected();
      const { entry = {} } = await connection.request("sessions.patch", patch, { timeoutMs: REQUEST_MS });
      return { sessionEntry: entry as SessionEntry, emitted: true };
    } catch (error) {
      // There will be no event.
      if (echo) this.#forget(echo);
      throw error;
    }
  }

  /**
   * The cause of the patch that this `session:patch` event is about; undefined: no plugin made it. One event per patch: the same patch, made
   * by the gateway or a user, has no plugin's cause.
   */
  causeOf(event: Fields): string | undefined {
    const known = this.#known.get(event);
    if (known !== undefined) return known;
    const nowMs = Date.now();
    for (const echo of this.#echoes.filter(({ untilMs }) => untilMs < nowMs)) this.#forget(echo);
    if (this.#echoes.length === 0) return undefined;
    const patch = JSON.stringify((Object(event.context) as { patch?: unknown }).patch);
    const echo = this.#echoes.find((one) => one.patch === patch);
    if (!echo) return undefined;
    this.#forget(echo);
    this.#known.set(event, echo.token);
    return echo.token;
  }

  close(): void {
    this.#connection?.then(
      (connection) => connection.stop(),
      () => {},
    );
    this.#connection = undefined;
  }

  #forget(echo: Echo): void {
    const at = this.#echoes.indexOf(echo);
    if (at >= 0) this.#echoes.splice(at, 1);
  }

  #connected(): Promise<GatewayConnection> {
    this.#connection ??= this.#connect().catch((error: unknown) => {
      this.#connection = undefined;
      throw error;
    });
    return this.#connection;
  }

  async #connect(): Promise<GatewayConnection> {
    const { GatewayClient } = await this.#sdk();
    const { gateway = {} } = this.#api.runtime.config.current();
    const { OPENCLAW_GATEWAY_PORT: port, OPENCLAW_GATEWAY_TOKEN, OPENCLAW_GATEWAY_PASSWORD } = process.env;
    const scheme = gateway.tls?.enabled === true ? "wss" : "ws";
    const token = OPENCLAW_GATEWAY_TOKEN ?? gateway.auth?.token;
    const password = OPENCLAW_GATEWAY_PASSWORD ?? gateway.auth?.password;
    const opened = Promise.withResolvers<void>();
    const timer = setTimeout(() => opened.reject(new Error("the gateway did not answer on the loopback interface")), CONNECT_MS);
    const connection = new GatewayClient({
      url: `${scheme}://127.0.0.1:${port ?? gateway.port ?? DEFAULT_PORT}`,
      clientName: "gateway-client",
      clientDisplayName: "creel",
      mode: "backend",
      role: "operator",
      scopes: ["operator.read", "operator.write"],
      ...(typeof token === "string" && { token }),
      ...(typeof password === "string" && { password }),
      onHelloOk: () => opened.resolve(),
      onConnectError: (error: Error) => opened.reject(error),
    });
    try {
      connection.start();
      await opened.promise;
      return connection;
    } catch (error) {
      connection.stop();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}
