/** A client of the gateway's WebSocket protocol, version 4, as a backend on the loopback interface. */
interface Frame {
  readonly type: string;
  readonly id?: string;
  readonly ok?: boolean;
  readonly payload?: Record<string, unknown>;
  readonly error?: { readonly message: string };
  readonly event?: string;
}

interface GatewayEvent {
  readonly event: string;
  readonly payload: Record<string, unknown>;
}

export class GatewayClient {
  readonly #socket: WebSocket;
  readonly #pending = new Map<string, (frame: Frame) => void>();
  readonly #waiting = new Set<(event: GatewayEvent) => void>();
  readonly events: GatewayEvent[] = [];
  /** What the gateway said about itself. */
  hello: Record<string, unknown> = {};
  #next = 0;

  constructor(port: number) {
    this.#socket = new WebSocket(`ws://127.0.0.1:${port}`);
    this.#socket.addEventListener("message", ({ data }) => this.#take(JSON.parse(String(data)) as Frame));
  }

  async connect(token: string): Promise<void> {
    await this.event("connect.challenge");
    this.hello = await this.request("connect", {
      minProtocol: 4,
      maxProtocol: 4,
      client: { id: "gateway-client", version: "1.0.0", platform: process.platform, mode: "backend" },
      role: "operator",
      scopes: ["operator.read", "operator.write", "operator.admin", "operator.approvals"],
      caps: ["approvals", "plugin-approvals"],
      auth: { token },
    });
  }

  async request(method: string, params: object = {}, timeoutMs = 240_000): Promise<Record<string, unknown>> {
    const id = `r${(this.#next += 1)}`;
    const answered = Promise.withResolvers<Frame>();
    this.#pending.set(id, answered.resolve);
    const timer = setTimeout(() => answered.reject(new Error(`no answer to ${method} in ${timeoutMs} ms`)), timeoutMs);
    this.#socket.send(JSON.stringify({ type: "req", id, method, params }));
    try {
      const { ok, payload = {}, error } = await answered.promise;
      if (ok !== true) throw new Error(error?.message ?? `${method} failed`);
      return payload;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The first event of that name that fits, also one that came before. */
  async event(
    name: string,
    fits: (payload: Record<string, unknown>) => boolean = () => true,
    timeoutMs = 240_000,
  ): Promise<Record<string, unknown>> {
    const isIt = ({ event, payload }: GatewayEvent): boolean => event === name && fits(payload);
    const known = this.events.find(isIt);
    if (known) return known.payload;
    const came = Promise.withResolvers<Record<string, unknown>>();
    const listener = (one: GatewayEvent): void => (isIt(one) ? came.resolve(one.payload) : undefined);
    const timer = setTimeout(() => came.reject(new Error(`${name} did not come in ${timeoutMs} ms`)), timeoutMs);
    this.#waiting.add(listener);
    try {
      return await came.promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(listener);
    }
  }

  /** Sends a message to a session and gives the text of the final answer. */
  async chat(sessionKey: string, message: string): Promise<string> {
    const idempotencyKey = `k${Date.now()}-${Math.random()}`;
    const { runId } = await this.request("chat.send", { sessionKey, message, idempotencyKey });
    const ended = await this.event(
      "chat",
      (one) => one.runId === (runId ?? idempotencyKey) && ["final", "error", "aborted"].includes(String(one.state)),
    );
    return JSON.stringify(ended);
  }

  close(): void {
    this.#socket.close();
  }

  #take(frame: Frame): void {
    if (frame.type === "res") this.#pending.get(frame.id!)?.(frame);
    else if (frame.event !== undefined) this.#hear({ event: frame.event, payload: frame.payload ?? {} });
  }

  #hear(event: GatewayEvent): void {
    this.events.push(event);
    for (const listener of this.#waiting) listener(event);
  }
}
