/** Trusted side: `creel serve`. One host, and a unix socket on which gateways of other processes and other languages join it. */
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { dirname, resolve as resolvePath } from "node:path";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { toWire } from "../protocol/serve.ts";
import { defaultLogger } from "../host/log.ts";
import type { Logger } from "../host/log.ts";
import { readConfig, stateDirOf } from "../sdk/config-file.ts";
import { openHost } from "../sdk/gateway.ts";
import type { Host } from "../sdk/gateway.ts";
import type { OpenOptions } from "../sdk/options.ts";
import { Connection } from "./connection.ts";
import { Gateways } from "./gateways.ts";
import { stateOf } from "./methods.ts";
import { listen } from "./place.ts";
import { leaveNote } from "./presence.ts";

export interface ServeOptions extends Omit<OpenOptions, "gateway" | "connect" | "hooks"> {
  readonly socket: string;
}

export interface Served extends AsyncDisposable {
  readonly host: Host;
  readonly socket: string;
  /** Stops accepting, lets what is in flight finish, ends the host, and takes the socket away. */
  close(): Promise<void>;
}

export async function serve({ socket: path, ...options }: ServeOptions): Promise<Served> {
  const socket = resolvePath(path);
  const logger = options.logger ?? defaultLogger();
  const gateways = new Gateways();
  const connections = new Set<Connection>();
  let clients = 0;
  let host: Host | undefined;
  let token = "";
  const news = new News(() => {
    const state = stateOf(host!);
    for (const connection of connections) connection.tellState(state);
  });
  const server = createServer((client) => {
    // The place is taken before the host is opened: two servers must not both load every plugin. Who comes meanwhile is told.
    if (!host) return turnAway(client, "it is still loading its plugins");
    if (connections.size >= LIMITS.serveConnections) return turnAway(client, `it has ${LIMITS.serveConnections} clients already`);
    const connection = new Connection(client, {
      host,
      token,
      logger,
      number: ++clients,
      state: () => stateOf(host!),
      joined: (joined) => gateways.add(joined),
      left: (left) => {
        connections.delete(left);
        gateways.delete(left);
      },
    });
    connections.add(connection);
  });
  const place = await listen(server, socket);
  ({ token } = place);
  try {
    host = await openHost({ ...options, logger, gateway: gateways.functions });
  } catch (error) {
    await new Promise((resolve) => server.close(resolve));
    await place.leave();
    throw error;
  }
  const opened = host;
  const takeNote = await announced(options.config, socket, logger);
  gateways.cause = () => opened.causeToken();
  gateways.decided = () => news.come();
  for (const fact of ["plugin", "quarantine", "replaced", "restart"] as const) opened.on(fact, () => news.come());
  let closing: Promise<void> | undefined;
  const shut = async (): Promise<void> => {
    // Who is connected still gets answers, and is still asked, until the host has ended.
    const closed = new Promise((resolve) => server.close(resolve));
    await opened.close();
    news.end();
    for (const connection of connections) connection.end("the host was closed");
    await closed;
    await takeNote();
    await place.leave();
  };
  const close = (): Promise<void> => (closing ??= shut());
  return { host: opened, socket, close, [Symbol.asyncDispose]: close };
}

/** Commands that change what is installed must find it. A host that cannot be found serves all the same. */
async function announced(config: ServeOptions["config"], socket: string, logger: Logger): Promise<() => Promise<void>> {
  try {
    const base = typeof config === "string" ? dirname(resolvePath(config)) : process.cwd();
    const stateDir = stateDirOf(await readConfig(config), base);
    if (stateDir !== undefined) return await leaveNote(stateDir, socket);
  } catch (error) {
    logger.warn({ err: error }, "creel install and the like will not find this host");
  }
  return async () => {};
}

function turnAway(client: Socket, detail: string): void {
  client.on("error", () => {});
  client.end(`${JSON.stringify({ error: toWire(new CreelError("ERR_SERVE_REFUSED", { detail })) })}\n`);
  client.destroySoon();
}

/** What comes within a moment is told together. */
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
    }, LIMITS.serveStateMs);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
