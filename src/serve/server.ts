/** Trusted side: `creel serve`. One host, and a unix socket for gateways in other processes and other languages. */
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { dirname, resolve as resolvePath } from "node:path";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { toWire } from "../protocol/serve.ts";
import { defaultLogger } from "../host/report/log.ts";
import type { Logger } from "../host/report/log.ts";
import { readConfig, stateDirOf } from "../discovery/config-file.ts";
import { openHostWith } from "../sdk/open-host.ts";
import { Duties } from "../host/duties.ts";
import { Relay } from "../host/durable/relay.ts";
import type { CoreHost } from "../host/host.ts";
import type { OpenOptions } from "../sdk/options.ts";
import { Connection } from "./connection.ts";
import { Callbacks } from "./callbacks.ts";
import { stateOf } from "./methods.ts";
import { listenHttp } from "./http-hooks.ts";
import type { HttpHooks } from "./http-hooks.ts";
import { listen } from "./socket-path.ts";
import { leaveNote } from "./running-hosts.ts";

export interface ServeOptions extends Omit<OpenOptions, "gateway" | "connect" | "hooks"> {
  readonly socket: string;
  /** The port for HTTP hooks of other agents, on loopback. Undefined: none; 0: any free one. */
  readonly http?: number;
  /** It will join a fleet: crons and services of plugins wait until it has. */
  readonly isFleet?: boolean;
}

export interface Served extends AsyncDisposable {
  readonly host: CoreHost;
  /** Who can be asked about sessions and approvals. */
  readonly callbacks: Callbacks;
  /** What it shares with the hosts of its fleet. */
  readonly duties: Duties | undefined;
  /** The way of its durable events to the servers of its fleet; undefined: it delivers them itself. */
  readonly relay: Relay | undefined;
  readonly socket: string;
  readonly http: { readonly url: string; readonly tokenFile: string } | undefined;
  /** Stops accepting, lets calls in flight finish, closes the host, and removes the socket. */
  close(): Promise<void>;
}

export async function serve({ socket: path, http: port, isFleet = false, ...options }: ServeOptions): Promise<Served> {
  const socket = resolvePath(path);
  const logger = options.logger ?? defaultLogger();
  const callbacks = new Callbacks();
  const duties = isFleet ? new Duties() : undefined;
  const isRelayed = isFleet && (await readConfig(options.config)).fleet?.durable?.through === "jetstream";
  const relay = isRelayed ? new Relay() : undefined;
  const connections = new Set<Connection>();
  let clients = 0;
  let host: CoreHost | undefined;
  let token = "";
  const news = new News(() => {
    const state = stateOf(host!);
    for (const connection of connections) connection.tellState(state);
  });
  const server = createServer((client) => {
    // The socket is bound before the host opens, so that two servers do not both load every plugin. Clients are refused
    // until then.
    if (!host) return turnAway(client, "the host is still loading its plugins");
    if (connections.size >= LIMITS.serve.connections) return turnAway(client, `the host already has ${LIMITS.serve.connections} clients`);
    const connection = new Connection(client, {
      host,
      token,
      logger,
      number: ++clients,
      state: () => stateOf(host!),
      approvalsOf: (asked, run) => callbacks.approvalsOf(asked, run),
      joined: (joined) => callbacks.add(joined),
      left: (left) => {
        connections.delete(left);
        callbacks.delete(left);
      },
    });
    connections.add(connection);
  });
  const bound = await listen(server, socket);
  ({ token } = bound);
  let http: HttpHooks | undefined;
  try {
    host = await openHostWith({ ...options, logger, gateway: callbacks.functions }, { duties, relay });
    if (port !== undefined) http = await listenHttp({ port, socket, host, logger });
  } catch (error) {
    await host?.close();
    await new Promise((resolve) => server.close(resolve));
    await bound.leave();
    throw error;
  }
  const opened = host;
  const takeNote = await announced(options.config, socket, logger);
  callbacks.cause = () => opened.causeToken();
  callbacks.client = () => opened.servedClient();
  for (const fact of ["plugin", "quarantine", "replaced", "moved", "restart", "approval"] as const) opened.on(fact, () => news.come());
  let closing: Promise<void> | undefined;
  const shut = async (): Promise<void> => {
    // Connected clients still get answers and questions until the host has closed.
    const closed = new Promise((resolve) => server.close(resolve));
    const httpClosed = http?.close();
    await opened.close();
    await httpClosed;
    news.end();
    for (const connection of connections) connection.end("the host was closed");
    await closed;
    await takeNote();
    await bound.leave();
  };
  const close = (): Promise<void> => (closing ??= shut());
  return { host: opened, callbacks, duties, relay, socket, http, close, [Symbol.asyncDispose]: close };
}

/** Leaves a note for commands that change the installed plugins. A failure is logged only. */
async function announced(config: ServeOptions["config"], socket: string, logger: Logger): Promise<() => Promise<void>> {
  try {
    const base = typeof config === "string" ? dirname(resolvePath(config)) : process.cwd();
    const stateDir = stateDirOf(await readConfig(config), base);
    if (stateDir !== undefined) return await leaveNote(stateDir, socket);
  } catch (error) {
    logger.warn({ err: error }, "creel install cannot notify this host");
  }
  return async () => {};
}

function turnAway(client: Socket, detail: string): void {
  client.on("error", () => {});
  client.end(`${JSON.stringify({ error: toWire(new CreelError("ERR_SERVE_REFUSED", { detail })) })}\n`);
  client.destroySoon();
}

/** Groups changes that happen within a moment. */
class News {
  readonly #tell: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: () => void) {
    this.#tell = tell;
  }

  come(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#tell();
    }, LIMITS.serve.stateMs);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
