/**
 * Trusted side: what Creel needs of the engine that joins the hosts of a fleet. `nats.ts` is the one implementation. Everything else in this
 * folder knows only this interface. What arrives over it comes from another machine: each reader checks it by a schema.
 */
export interface BusServer {
  readonly name: string;
  readonly version: string;
  readonly maxPayload: number;
  readonly isTls: boolean;
}

/** A message to this process. `respond` does nothing if its sender wants no answer. */
export interface BusMessage {
  readonly subject: string;
  readonly text: string;
  readonly respond: (text: string) => void;
}

export interface BucketEntry {
  readonly bytes: Uint8Array;
  readonly revision: number;
}

/** A store of the engine that all hosts read. Values are replaced as a whole. */
export interface Bucket {
  /** Read directly and without a consumer, so that a host needs no right to make the server send messages anywhere. */
  get(key: string): Promise<BucketEntry | undefined>;
  /** `after`: the revision that it replaces, 0 for none. Undefined: another writer was first. */
  put(key: string, bytes: Uint8Array, after: number): Promise<number | undefined>;
  /** On how many servers it is kept. */
  replicas(): Promise<number>;
}

export interface Appended {
  /** Its place in the log: they rise. */
  readonly number: number;
  readonly subject: string;
  readonly text: string;
}

/** A log of the engine to which hosts append. Nobody changes what is in it. */
export interface EventLog {
  /** Resolves when the servers have it. A second one of the same `id` within two minutes is dropped. */
  append(subject: string, text: string, id: string): Promise<void>;
  /** The first one after this number; undefined: there is none. Reads without a consumer. */
  next(after: number): Promise<Appended | undefined>;
  /** For operators, of a log that allows it. */
  delete(number: number): Promise<void>;
}

/** A message of a queue that this process holds: until it is settled, or this process is silent for too long, nobody else gets it. */
export interface Taken {
  readonly subject: string;
  readonly text: string;
  /** Its place in the queue. */
  readonly number: number;
  /** How often it was given out, this time included. */
  readonly attempt: number;
  /** Still being worked on. */
  working(): void;
  /** Resolves when the servers have deleted it. */
  done(): Promise<void>;
  /** It is given out again after this pause. */
  again(ms: number): void;
}

/** What waits for a consumer of a queue. */
export interface Backlog {
  readonly consumer: string;
  readonly waiting: number;
  /** Given out and not settled. */
  readonly unsettled: number;
}

/** A log whose messages are given out, each to one process, and deleted when they are settled. Operators make consumers; hosts take from them. */
export interface Queue {
  append(subject: string, text: string, id: string): Promise<void>;
  /** The next message, waiting for so long; undefined: there is none. */
  take(consumer: string, waitMs: number): Promise<Taken | undefined>;
  /** For operators. */
  makeConsumer(consumer: string, filter: string): Promise<void>;
  /** For operators. Undefined: there is no such queue. */
  backlogs(): Promise<Backlog[] | undefined>;
}

export interface Bus {
  readonly isConnected: boolean;
  readonly server: BusServer;
  /** Rejects with a CreelError: at once if there is no connection or no host listens, when the connection is lost, or when it is late. */
  request(subject: string, text: string, timeoutMs: number): Promise<string>;
  publish(subject: string, text: string): void;
  /** Resolves once the server has accepted the subscription. Rejects if it may not be made. */
  subscribe(subject: string, received: (message: BusMessage) => void): Promise<() => void>;
  bucket(name: string): Promise<Bucket>;
  /** Makes the bucket if it does not exist. For operators: a host has no right to. */
  makeBucket(name: string, replicas: number): Promise<Bucket>;
  log(name: string): EventLog;
  /** Makes the log if it does not exist. For operators. What is older than `days` goes. */
  makeLog(name: string, subjects: readonly string[], replicas: number, days: number, mayDelete?: boolean): Promise<void>;
  queue(name: string): Queue;
  /** Makes the queue if it does not exist. For operators. Nothing in it grows too old. */
  makeQueue(name: string, subjects: readonly string[], replicas: number): Promise<void>;
  /** Called at every loss and every return of the connection. Returns the function that ends it. */
  onChange(changed: (isConnected: boolean) => void): () => void;
  close(): Promise<void>;
}
