/**
 * Inside the isolate: `http.Agent`. The host keeps and reuses connections itself, so an agent here only carries
 * options.
 */
import { EventEmitter } from "../events.ts";
import { refuse } from "../errors.ts";

const Emitter = EventEmitter as unknown as new () => EventEmitter;

export class Agent extends Emitter {
  readonly options: Record<string, unknown>;
  readonly sockets = {};
  readonly freeSockets = {};
  readonly requests = {};
  readonly totalSocketCount = 0;
  maxSockets: number;
  maxFreeSockets: number;
  maxTotalSockets: number;
  keepAlive: boolean;
  keepAliveMsecs: number;
  scheduling: unknown;
  defaultPort = 80;
  protocol = "http:";

  constructor(options: Record<string, unknown> = {}) {
    super();
    this.options = { noDelay: true, path: null, ...options };
    this.maxSockets = (options["maxSockets"] as number | undefined) ?? Infinity;
    this.maxFreeSockets = (options["maxFreeSockets"] as number | undefined) ?? 256;
    this.maxTotalSockets = (options["maxTotalSockets"] as number | undefined) ?? Infinity;
    this.keepAlive = options["keepAlive"] === true;
    this.keepAliveMsecs = (options["keepAliveMsecs"] as number | undefined) ?? 1000;
    this.scheduling = options["scheduling"] ?? "lifo";
  }

  getName({ host = "localhost", port = "", localAddress = "", family }: Record<string, unknown> = {}): string {
    return `${String(host)}:${String(port)}:${String(localAddress)}${family === 4 || family === 6 ? `:${family}` : ""}`;
  }

  destroy(): void {}
}

Object.assign(Agent.prototype, { createConnection: refuse("http.Agent.createConnection", "the host makes the connections") });

export class SecureAgent extends Agent {
  override defaultPort = 443;
  override protocol = "https:";
}

Object.defineProperty(SecureAgent, "name", { value: "Agent" });
