/**
 * Trusted side: connections for plugins, behind `net` and `tls`. The plugin names a host and a port. The host decides
 * whether the plugin may reach it, resolves and checks the address, connects, and makes TLS itself. It does not read
 * what is said. The plugin gets bytes, or a code and one line that reveal nothing about the gateway's network.
 */
import { untilAborted } from "../../until-aborted.ts";
import { connectHost, connectTarget, matchConnect } from "../../../protocol/config/connect-grant.ts";
import { CreelError } from "../../../protocol/errors.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import {
  connectAddress,
  connectLookup,
  connectOpen,
  connectReference,
  connectSecure,
  connectWrite,
} from "../../../protocol/messages/connect-requests.ts";
import type { ConnectAddresses, ConnectOpened, ConnectPiece } from "../../../protocol/messages/connect.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import { pinnedHost } from "../fetch/addresses.ts";
import type { Address, Resolve } from "../fetch/addresses.ts";
import { wordsFor } from "../fetch/faults.ts";
import { sharedNames } from "../fetch/names.ts";
import type { GatewayTime } from "../gateway-time.ts";
import { checked } from "../service.ts";
import type { ServiceGroup } from "../service.ts";
import { ConnectQuota } from "./connect-quota.ts";
import { closed, Connection } from "./connection.ts";
import type { ConnectionOptions } from "./connection.ts";
import { dial, secure } from "./dial.ts";

/** The plugin that asks, and its cell. */
export type Caller = Pick<Plugin, "id" | "grants"> & { readonly cell: number; readonly gatewayTime?: GatewayTime };

export interface ConnectOptions {
  readonly resolve?: Resolve;
  readonly openMs?: number;
  readonly clocks?: ConnectionOptions["clocks"];
  /** Called for every connection that is asked for, with whether a grant matches. */
  readonly onMatch?: (plugin: string, target: string, isGranted: boolean) => void;
  /** The host has no network for this target: a replay, or a test of a plugin. */
  readonly isOffline?: (target: string) => boolean;
}

/** One that is being opened can only be closed. */
type Open = Connection | AbortController;

/** Past this number, those that have ended are forgotten. */
const KEPT = 64;

export class Connections {
  readonly #quota = new ConnectQuota();
  readonly #cells = new Map<string, Map<number, Open>>();
  readonly #options: ConnectOptions;
  readonly #resolve: Resolve;

  constructor(options: ConnectOptions = {}) {
    this.#options = options;
    this.#resolve = options.resolve ?? sharedNames.resolve.bind(sharedNames);
  }

  /** Rejects only with a CreelError. */
  async open(plugin: Caller, args: unknown): Promise<ConnectOpened> {
    const { host, port } = checked(connectAddress, args, "connect.open");
    const target = connectTarget(host, port);
    const match = matchConnect(plugin.grants.connect ?? [], target);
    this.#options.onMatch?.(plugin.id, target, match !== undefined);
    // SECURITY: nothing is resolved before a grant matches. test/host/services/connect/connect.test.ts
    if (match === undefined) throw missing(plugin, `connect to ${target}`, target);
    const { id, tls } = checked(connectOpen, args, "connect.open");
    // SECURITY: what was granted for TLS carries no plain byte. test/host/services/connect/tls.test.ts
    if (match === "tls" && !tls) throw new CreelError("ERR_CONNECT_TLS", { target });
    if (this.#find(plugin, id))
      throw new CreelError("ERR_SERVICE_ARGUMENT", { service: "connect.open", field: "id", detail: "it is in use" });
    if (this.#options.isOffline?.(target))
      throw new CreelError("ERR_CONNECT_FAILED", { target, detail: "this host has no network for connections" });
    const leave = this.#quota.enter(plugin.id);
    const { openMs = LIMITS.connect.openMs } = this.#options;
    const opening = new AbortController();
    const clock = setTimeout(() => opening.abort(new CreelError("ERR_CONNECT_TIMEOUT", { target, ms: openMs })), openMs);
    this.#add(plugin, id, opening);
    let isOpen = false;
    try {
      const addresses = await untilAborted(this.#pinned(plugin.id, host, target), opening.signal);
      const plain = await dial(addresses, port, opening.signal);
      // A TLS grant is for the server of that name, and no other behind the same address.
      const servername = match === "tls" ? host : (tls?.servername ?? host);
      const socket = tls ? await secure(plain, { servername, alpn: tls.alpn ?? [] }, opening.signal) : plain;
      if (opening.signal.aborted) socket.destroy();
      opening.signal.throwIfAborted();
      const connection: Connection = new Connection(socket, {
        target,
        clocks: this.#options.clocks ?? {},
        carried: (bytes) => this.#quota.carry(plugin.id, bytes),
        measure: (work) => (plugin.gatewayTime ? plugin.gatewayTime.measure(work) : work()),
        released: leave,
      });
      this.#add(plugin, id, connection);
      isOpen = true;
      return connection.opened();
    } catch (error) {
      if (opening.signal.aborted) throw opening.signal.reason;
      throw error instanceof CreelError ? error : new CreelError("ERR_CONNECT_FAILED", { target, detail: wordsFor(error) });
    } finally {
      clearTimeout(clock);
      if (!isOpen) {
        leave();
        this.#remove(plugin, id);
      }
    }
  }

  /** Throws when no grant matches the beginning of the request. */
  permit({ grants, ...plugin }: Pick<Caller, "id" | "grants">): void {
    if (!grants.connect?.length) throw missing(plugin, "connect", "db.example.com:5432");
  }

  read(plugin: Caller, args: unknown): Promise<ConnectPiece> {
    return this.#at(plugin, checked(connectReference, args, "connect.read").id).read();
  }

  write(plugin: Caller, args: unknown): Promise<void> {
    const { id, bytes, end = false } = checked(connectWrite, args, "connect.write");
    return this.#at(plugin, id).write(bytes, end);
  }

  secure(plugin: Caller, args: unknown): Promise<ConnectOpened> {
    const { id, servername, alpn = [] } = checked(connectSecure, args, "connect.secure");
    if (servername === undefined)
      throw new CreelError("ERR_SERVICE_ARGUMENT", { service: "connect.secure", field: "servername", detail: "it is missing" });
    return this.#at(plugin, id).secure({ servername, alpn }, this.#options.openMs);
  }

  /** Ignores one that is closed already. */
  close(plugin: Caller, args: unknown): void {
    const { id } = checked(connectReference, args, "connect.close");
    finish(this.#find(plugin, id), "the plugin closed it");
    this.#remove(plugin, id);
  }

  /** Addresses of a name that a connect grant names. */
  async lookup(plugin: Caller, args: unknown): Promise<ConnectAddresses> {
    const { host } = checked(connectLookup, args, "dns.lookup");
    if (!(plugin.grants.connect ?? []).some((target) => connectHost(target) === host))
      throw missing(plugin, `dns.lookup of ${host}`, `${host}:<port>`);
    try {
      const addresses = await this.#pinned(plugin.id, host, host);
      return { addresses: addresses.map(({ address, family }) => ({ address, family })) };
    } catch (error) {
      throw error instanceof CreelError ? error : new CreelError("ERR_CONNECT_FAILED", { target: host, detail: wordsFor(error) });
    }
  }

  /** The cell is gone: so are its connections. */
  left(plugin: string, cell: number): void {
    const key = keyOf(plugin, cell);
    for (const open of this.#cells.get(key)?.values() ?? []) finish(open, "its cell was replaced");
    this.#cells.delete(key);
  }

  shut(): void {
    for (const own of this.#cells.values()) for (const open of own.values()) finish(open, "the host was closed");
    this.#cells.clear();
  }

  async #pinned(plugin: string, host: string, target: string): Promise<readonly Address[]> {
    const addresses = await pinnedHost(host, this.#resolve, plugin);
    if (!addresses) throw new CreelError("ERR_CONNECT_ADDRESS", { target });
    return addresses;
  }

  #at(plugin: Caller, id: number): Connection {
    const open = this.#find(plugin, id);
    if (!(open instanceof Connection)) throw closed("it was never opened, or has ended");
    return open;
  }

  // SECURITY: a number only finds connections of the same plugin in the same cell.
  // test/host/services/connect/connect.test.ts
  #find({ id: plugin, cell }: Caller, id: number): Open | undefined {
    return this.#cells.get(keyOf(plugin, cell))?.get(id);
  }

  #add({ id: plugin, cell }: Caller, id: number, open: Open): void {
    const key = keyOf(plugin, cell);
    let own = this.#cells.get(key);
    if (!own) this.#cells.set(key, (own = new Map()));
    own.set(id, open);
    // A plugin that never closes what has ended must not fill the gateway's memory.
    if (own.size > KEPT) for (const [other, one] of own) if (one instanceof Connection && one.isClosed) own.delete(other);
  }

  #remove({ id: plugin, cell }: Caller, id: number): void {
    const own = this.#cells.get(keyOf(plugin, cell));
    own?.delete(id);
    if (own?.size === 0) this.#cells.delete(keyOf(plugin, cell));
  }
}

function finish(open: Open | undefined, detail: string): void {
  if (open instanceof Connection) open.close(detail);
  else open?.abort(closed(detail));
}

function keyOf(plugin: string, cell: number): string {
  return `${cell} ${plugin}`;
}

function missing({ id }: Pick<Caller, "id">, service: string, target: string): CreelError {
  return new CreelError("ERR_GRANT_MISSING", { service, plugin: id, grant: `connect: ["${target}"]` });
}

function caller({ id, grants, gatewayTime }: Plugin, cell: number): Caller {
  return { id, grants, gatewayTime, cell };
}

export function connectServices(connections: Connections): ServiceGroup {
  return {
    services: {
      "connect.open": { answer: ({ plugin, cell, args }) => connections.open(caller(plugin, cell), args) },
      "connect.read": {
        permit: (plugin) => connections.permit(plugin),
        answer: ({ plugin, cell, args }) => connections.read(caller(plugin, cell), args),
      },
      "connect.write": {
        maxBytes: LIMITS.connect.writeChars,
        permit: (plugin) => connections.permit(plugin),
        answer: ({ plugin, cell, args }) => connections.write(caller(plugin, cell), args),
      },
      "connect.secure": {
        permit: (plugin) => connections.permit(plugin),
        answer: ({ plugin, cell, args }) => connections.secure(caller(plugin, cell), args),
      },
      "connect.close": { answer: ({ plugin, cell, args }) => connections.close(caller(plugin, cell), args) },
      "dns.lookup": { answer: ({ plugin, cell, args }) => connections.lookup(caller(plugin, cell), args) },
    },
    left: ({ id }, cell) => connections.left(id, cell),
    close: () => connections.shut(),
  };
}
