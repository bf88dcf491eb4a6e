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

export class SessionLink {
  readonly #api: GatewayApi;
  readonly #sdk: () => Promise<GatewaySdk>;
  readonly #cause: () => string | undefined;
  /** Causes of recent patches, by the patch as JSON. */
  readonly #echoes = new Map<string, { readonly token: string; readonly untilMs: number }>();
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
    if (token !== undefined) this.#echoes.set(JSON.stringify(patch), { token, untilMs: Date.now() + ECHO_MS });
    const connection = await this.#connected();
    const { entry = {} } = await connection.request("sessions.patch", patch, { timeoutMs: REQUEST_MS });
    return { sessionEntry: entry as SessionEntry, emitted: true };
  }

  /** The cause of the patch that this `session:patch` event is about; undefined: no plugin made it. */
  causeOf({ context }: Fields): string | undefined {
    const nowMs = Date.now();
    for (const [key, { untilMs }] of this.#echoes) if (untilMs < nowMs) this.#echoes.delete(key);
    if (this.#echoes.size === 0) return undefined;
    const { patch } = Object(context) as { patch?: unknown };
    return this.#echoes.get(JSON.stringify(patch))?.token;
  }

  close(): void {
    this.#connection?.then(
      (connection) => connection.stop(),
      () => {},
    );
    this.#connection = undefined;
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
