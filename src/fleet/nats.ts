/**
 * Trusted side: the NATS server as the bus of a fleet. The only file that imports the client, and only when an operator has asked for a fleet.
 * The client reports nothing when the server dies: requests in flight would wait for their own timeout. So this file settles them.
 */
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type * as KvModule from "@nats-io/kv";
import type * as Transport from "@nats-io/transport-node";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Bucket, Bus, BusMessage, BusServer, EventLog, Queue } from "./bus.ts";
import { isForbidden, NatsLog, readStored } from "./nats-log.ts";
import type { AskLog } from "./nats-log.ts";
import { NatsQueue } from "./nats-queue.ts";
import type { FleetAccess } from "./settings.ts";
import { BUCKETS } from "./subjects.ts";

interface Client {
  readonly transport: typeof Transport;
  readonly kv: typeof KvModule;
}
type NatsConnection = Transport.NatsConnection;
type KV = KvModule.KV;

/** Before it, servers lose streams in a crash; 2.9 also loses updates of a key in a cluster. */
export const OLDEST_SERVER = "2.10.23";

async function loadClient(): Promise<Client> {
  try {
    // oxlint-disable-next-line no-restricted-imports -- the one place.
    const [transport, kv] = await Promise.all([import("@nats-io/transport-node"), import("@nats-io/kv")]);
    return { transport, kv };
  } catch (error) {
    throw new CreelError("ERR_FLEET_CLIENT", { detail: (error as Error).message });
  }
}

/** A new key of a member: `seed` is secret. */
export async function makeNkey(): Promise<{ readonly seed: string; readonly nkey: string }> {
  const { nkeys } = (await loadClient()).transport;
  const pair = nkeys.createUser();
  return { seed: Buffer.from(pair.getSeed()).toString(), nkey: pair.getPublicKey() };
}

/** Rejects if no server answers, refuses the key, or is too old. */
export async function connectNats({ name, servers, seed, ca }: FleetAccess): Promise<Bus> {
  const client = await loadClient();
  const { connect, nkeyAuthenticator } = client.transport;
  let connection: NatsConnection;
  try {
    connection = await connect({
      servers: [...servers],
      name: `creel ${name}`,
      authenticator: nkeyAuthenticator(seed),
      // SECURITY: answers to one member can be read by no other. test/fleet/permissions.test.ts
      inboxPrefix: `_INBOX_${name}`,
      // SECURITY: the client ignores "tls://" in an address. With this option it refuses a server without TLS. test/fleet/tls.test.ts
      ...((ca !== undefined || servers.some(isTlsAddress)) && { tls: ca === undefined ? {} : { ca } }),
      timeout: LIMITS.fleet.connectMs,
      pingInterval: LIMITS.fleet.pingMs,
      maxPingOut: 2,
      reconnectTimeWait: LIMITS.fleet.reconnectMs,
      reconnectJitter: LIMITS.fleet.reconnectMs,
      maxReconnectAttempts: -1,
      ignoreAuthErrorAbort: true,
      // Two stack traces per request are a third of what it costs, and no error of this file shows them.
      noAsyncTraces: true,
    });
  } catch (error) {
    const code = isRefusal(error, client) ? "ERR_FLEET_REFUSED" : "ERR_FLEET_CONNECT";
    throw new CreelError(code, { servers: servers.join(", "), name, detail: (error as Error).message });
  }
  const { version } = connection.info!;
  if (isOlder(version, OLDEST_SERVER)) {
    await connection.close();
    throw new CreelError("ERR_FLEET_VERSION", { version, oldest: OLDEST_SERVER });
  }
  return new NatsBus(connection, client);
}

function isTlsAddress(server: string): boolean {
  return server.startsWith("tls:");
}

/** The server was there and does not accept the key. */
function isRefusal(error: unknown, { transport: { errors } }: Client): boolean {
  return error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError;
}

export function isOlder(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => text.split(/[.-]/).slice(0, 3).map(Number)) as [number[], number[]];
  // A version that cannot be read counts as too old.
  const at = [0, 1, 2].find((part) => a[part] !== b[part]);
  return at !== undefined && !(a[at]! > b[at]!);
}

class NatsBus implements Bus {
  readonly #connection: NatsConnection;
  readonly #client: Client;
  readonly #pending = new Set<(error: CreelError) => void>();
  readonly #listeners = new Set<(isConnected: boolean) => void>();
  #info: NonNullable<NatsConnection["info"]>;
  isConnected = true;

  constructor(connection: NatsConnection, client: Client) {
    this.#connection = connection;
    this.#info = connection.info!;
    this.#client = client;
    keepErrorListener(connection);
    void this.#watch();
  }

  /** The last one: while it is away, the client knows none. */
  get server(): BusServer {
    this.#info = this.#connection.info ?? this.#info;
    const { server_name: name, version, max_payload: maxPayload, tls_required: isTls = false } = this.#info;
    return { name, version, maxPayload, isTls };
  }

  async request(subject: string, text: string, timeoutMs: number): Promise<string> {
    return (await this.#asked(subject, () => this.#send(subject, text, timeoutMs))).string();
  }

  /** `isForwarded`: the answer has the subject under which it was stored, by which the client would not find its request. */
  #send(subject: string, text: string, timeoutMs: number, id?: string, isForwarded = false): Promise<Transport.Msg> {
    const headers = id === undefined ? undefined : this.#client.transport.headers();
    headers?.set("Nats-Msg-Id", id!);
    // A fraction would throw in the client.
    const timeout = Math.max(1, Math.ceil(timeoutMs));
    return this.#connection.request(subject, text, { timeout, ...(isForwarded && { noMux: true }), ...(headers && { headers }) });
  }

  publish(subject: string, text: string): void {
    if (this.isConnected) this.#connection.publish(subject, text);
  }

  async subscribe(subject: string, received: (message: BusMessage) => void): Promise<() => void> {
    let refused: Error | undefined;
    const subscription = this.#connection.subscribe(subject, {
      callback: (error, message) => {
        if (error) refused = error;
        else if (!isSentFor(message, subject))
          received({ subject: message.subject, text: message.string(), respond: (text) => void message.respond(text) });
      },
    });
    // The server answers in order: a refusal comes before this.
    await this.#connection.flush();
    if (refused !== undefined) throw this.#failed(subject, refused);
    return () => subscription.unsubscribe();
  }

  async bucket(name: string): Promise<Bucket> {
    const store = await this.#asked(name, () => new this.#client.kv.Kvm(this.#connection).open(name, { allow_direct: true }));
    return this.#bucketOf(name, store);
  }

  async makeBucket(name: string, replicas: number): Promise<Bucket> {
    const make = (): Promise<KV> => new this.#client.kv.Kvm(this.#connection).create(name, { history: 1, replicas, allow_direct: true });
    return this.#bucketOf(name, await onceLed(() => this.#asked(name, make)));
  }

  log(name: string): EventLog {
    return new NatsLog(name, this.#askLog);
  }

  makeLog(name: string, subjects: readonly string[], replicas: number, days: number, mayDelete = false): Promise<void> {
    return onceLed(() => new NatsLog(name, this.#askLog).make(subjects, replicas, days, mayDelete));
  }

  queue(name: string): Queue {
    return this.#queue(name);
  }

  makeQueue(name: string, subjects: readonly string[], replicas: number): Promise<void> {
    return onceLed(() => this.#queue(name).make(subjects, replicas));
  }

  #queue(name: string): NatsQueue {
    return new NatsQueue(name, this.#askLog, (subject, text) => this.publish(subject, text));
  }

  readonly #askLog: AskLog = async (subject, text, { id, timeoutMs = LIMITS.fleet.controlMs, isForwarded } = {}) => {
    const message = await this.#asked(subject, () => this.#send(subject, text, timeoutMs, id, isForwarded));
    return {
      status: message.headers?.code ?? 0,
      subject: message.subject,
      text: message.string(),
      reply: message.reply ?? "",
      header: (key) => message.headers?.get(key) ?? "",
    };
  };

  onChange(changed: (isConnected: boolean) => void): () => void {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  }

  async close(): Promise<void> {
    this.#settle();
    this.#listeners.clear();
    await this.#connection.close();
  }

  #bucketOf(name: string, store: KV): Bucket {
    return {
      replicas: () => this.#asked(name, async () => (await store.status()).replicas),
      get: async (key) => {
        // SECURITY: not directly, where hosts write: see nats-log.ts. test/fleet/permissions.test.ts
        if (name === BUCKETS.duties)
          try {
            const found = await readStored(this.#askLog, `KV_${name}`, { last_by_subj: `$KV.${name}.${key}` });
            return found && !found.headers.includes("KV-Operation:") ? { bytes: found.bytes, revision: found.number } : undefined;
          } catch (error) {
            // The accounts of an earlier version.
            if (!isForbidden(error)) throw error;
          }
        return this.#asked(name, async () => {
          const found = await store.get(key);
          return found?.operation === "PUT" ? { bytes: found.value, revision: found.revision } : undefined;
        });
      },
      put: (key, bytes, after) =>
        this.#asked(name, async () => {
          try {
            return await store.put(key, bytes, { previousSeq: after });
          } catch (error) {
            if ((error as { code?: unknown }).code === WRONG_REVISION) return undefined;
            throw error;
          }
        }),
    };
  }

  async #asked<T>(what: string, work: () => Promise<T>): Promise<T> {
    if (!this.isConnected) throw away();
    const lost = Promise.withResolvers<never>();
    lost.promise.catch(() => {});
    this.#pending.add(lost.reject);
    try {
      const doing = work();
      doing.catch(() => {});
      return await Promise.race([doing, lost.promise]);
    } catch (error) {
      throw error instanceof CreelError ? error : this.#failed(what, error);
    } finally {
      this.#pending.delete(lost.reject);
    }
  }

  #failed(subject: string, error: unknown): CreelError {
    const { errors } = this.#client.transport;
    const cause = error instanceof errors.RequestError && error.cause instanceof Error ? error.cause : error;
    if (cause instanceof errors.NoRespondersError) return new CreelError("ERR_FLEET_NOBODY", { subject });
    if (cause instanceof errors.TimeoutError) return new CreelError("ERR_FLEET_LATE", { subject });
    if (cause instanceof errors.PermissionViolationError) return new CreelError("ERR_FLEET_FORBIDDEN", { subject });
    return new CreelError("ERR_FLEET_FAILED", { subject, detail: (cause as Error).message });
  }

  async #watch(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type === "disconnect" || type === "staleConnection") this.#change(false);
      else if (type === "reconnect") {
        keepErrorListener(this.#connection);
        this.#change(true);
      }
    }
  }

  #change(isConnected: boolean): void {
    if (isConnected === this.isConnected) return;
    this.isConnected = isConnected;
    if (!isConnected) this.#settle();
    for (const changed of this.#listeners) changed(isConnected);
  }

  #settle(): void {
    for (const reject of this.#pending) reject(away());
    this.#pending.clear();
  }
}

/**
 * SECURITY: the server sends what it has stored to any subject that a member names as the one for the answer, also where that member may not
 * publish. A host could so give orders to others in an operator's name. The server marks such messages: by a header, or by the subject
 * under which it has stored them. test/fleet/permissions.test.ts
 */
function isSentFor({ subject, headers }: Transport.Msg, subscribed: string): boolean {
  if (headers?.has("Nats-Stream")) return true;
  const [is, wanted] = [subject, subscribed].map((one) => one.split(".")) as [string[], string[]];
  return is.length !== wanted.length || wanted.some((part, at) => part !== "*" && part !== is[at]);
}

/**
 * Makes a store again and again while a cluster that was just started, or has lost a server, has no leader: without one nobody answers, or a
 * server says that its peers are not there yet. A store that exists with the same settings is made again without harm.
 */
async function onceLed<T>(make: () => Promise<T>): Promise<T> {
  const endMs = performance.now() + LIMITS.fleet.leaderMs;
  for (;;) {
    try {
      return await make();
    } catch (error) {
      const isUnled = error instanceof CreelError && (error.code === "ERR_FLEET_LATE" || UNLED.test(error.message));
      if (!isUnled || performance.now() > endMs) throw error;
      await sleep(LIMITS.fleet.reconnectMs);
    }
  }
}

/** What a server without a leader or peers says: the client passes on its words, not its code. */
const UNLED = /temporarily unavailable|no suitable peers|insufficient resources/;

/** JetStream's code for an update of another revision than the last. */
const WRONG_REVISION = 10071;

function away(): CreelError {
  return new CreelError("ERR_FLEET_AWAY");
}

/**
 * When a server dies, the client (3.4.0) removes its listeners from a socket whose failed write is still to be reported. That error would then
 * end the whole process: a server that dies must not take its hosts along. So each socket keeps a listener. Seen once, in a test that killed
 * the server; no test brings it about at will.
 */
function keepErrorListener(connection: NatsConnection): void {
  const { protocol } = connection as { protocol?: { transport?: { socket?: Socket } } };
  const socket = protocol?.transport?.socket;
  if (!socket) return;
  const removeAll = socket.removeAllListeners.bind(socket);
  socket.removeAllListeners = (event) => {
    removeAll(event);
    return socket.on("error", () => {});
  };
}
