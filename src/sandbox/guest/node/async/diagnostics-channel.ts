/** Inside the isolate: `diagnostics_channel`. Publishers and subscribers are the plugin's own code and its packages. */
import { checkFunction, invalidArgType } from "../errors.ts";
import { nextTick } from "../next-tick.ts";

type Name = string | symbol;
type Subscriber = (message: unknown, name: Name) => void;
type Fn = (this: unknown, ...args: unknown[]) => unknown;
interface Store {
  run(store: unknown, fn: () => unknown): unknown;
}

class Channel {
  readonly name: Name;
  #subscribers: readonly Subscriber[] = [];
  readonly #stores = new Map<Store, (message: unknown) => unknown>();

  constructor(name: Name) {
    this.name = name;
  }

  get hasSubscribers(): boolean {
    return this.#subscribers.length > 0 || this.#stores.size > 0;
  }

  subscribe(subscriber: unknown): void {
    checkFunction(subscriber, "subscription");
    this.#subscribers = [...this.#subscribers, subscriber];
  }

  unsubscribe(subscriber: unknown): boolean {
    const at = this.#subscribers.indexOf(subscriber as Subscriber);
    if (at >= 0) this.#subscribers = this.#subscribers.toSpliced(at, 1);
    return at >= 0;
  }

  publish(message: unknown): void {
    for (const subscriber of this.#subscribers)
      try {
        subscriber(message, this.name);
      } catch (error) {
        // As in Node: it fails on its own, and the publisher goes on.
        nextTick(() => {
          throw error;
        });
      }
  }

  bindStore(store: Store, transform: (message: unknown) => unknown = (message) => message): void {
    this.#stores.set(store, transform);
  }

  unbindStore(store: Store): boolean {
    return this.#stores.delete(store);
  }

  runStores(message: unknown, fn: Fn, thisArg?: unknown, ...args: unknown[]): unknown {
    let run = (): unknown => {
      this.publish(message);
      return Reflect.apply(fn, thisArg, args);
    };
    for (const [store, transform] of this.#stores) {
      const inner = run;
      run = () => store.run(transform(message), inner);
    }
    return run();
  }
}

const channels = new Map<Name, Channel>();

function channel(name: unknown): Channel {
  if (typeof name !== "string" && typeof name !== "symbol") throw invalidArgType("channel", "one of type string or symbol", name);
  let found = channels.get(name);
  if (!found) channels.set(name, (found = new Channel(name)));
  return found;
}

const EVENTS = ["start", "end", "asyncStart", "asyncEnd", "error"] as const;
type Tracing = Record<(typeof EVENTS)[number], Channel>;

class TracingChannel {
  declare readonly start: Channel;
  declare readonly end: Channel;
  declare readonly asyncStart: Channel;
  declare readonly asyncEnd: Channel;
  declare readonly error: Channel;

  constructor(given: string | Tracing) {
    for (const event of EVENTS)
      Object.defineProperty(this, event, {
        value: typeof given === "string" ? channel(`tracing:${given}:${event}`) : given[event],
        enumerable: true,
      });
  }

  get hasSubscribers(): boolean {
    return EVENTS.some((event) => this[event].hasSubscribers);
  }

  subscribe(handlers: Partial<Record<keyof Tracing, Subscriber>>): void {
    for (const event of EVENTS) if (handlers[event]) this[event].subscribe(handlers[event]);
  }

  unsubscribe(handlers: Partial<Record<keyof Tracing, Subscriber>>): boolean {
    return EVENTS.filter((event) => handlers[event]).every((event) => this[event].unsubscribe(handlers[event]));
  }

  traceSync(fn: Fn, message: Record<string, unknown> = {}, thisArg?: unknown, ...args: unknown[]): unknown {
    if (!this.hasSubscribers) return Reflect.apply(fn, thisArg, args);
    return this.start.runStores(message, () => {
      try {
        return (message["result"] = Reflect.apply(fn, thisArg, args));
      } catch (error) {
        throw this.#failed(message, error);
      } finally {
        this.end.publish(message);
      }
    });
  }

  tracePromise(fn: Fn, message: Record<string, unknown> = {}, thisArg?: unknown, ...args: unknown[]): unknown {
    if (!this.hasSubscribers) return Reflect.apply(fn, thisArg, args);
    const settled = (): void => {
      this.asyncStart.publish(message);
      this.asyncEnd.publish(message);
    };
    return this.start.runStores(message, () => {
      try {
        return Promise.resolve(Reflect.apply(fn, thisArg, args)).then(
          (result) => {
            message["result"] = result;
            settled();
            return result;
          },
          (error: unknown) => {
            this.#failed(message, error);
            settled();
            throw error;
          },
        );
      } catch (error) {
        throw this.#failed(message, error);
      } finally {
        this.end.publish(message);
      }
    });
  }

  traceCallback(fn: Fn, position = -1, message: Record<string, unknown> = {}, thisArg?: unknown, ...args: unknown[]): unknown {
    if (!this.hasSubscribers) return Reflect.apply(fn, thisArg, args);
    const callback = args.at(position);
    checkFunction(callback, "callback");
    const traced = (...given: unknown[]): unknown => {
      if (given[0]) this.#failed(message, given[0]);
      else message["result"] = given[1];
      return this.asyncStart.runStores(message, () => {
        try {
          return callback(...given);
        } finally {
          this.asyncEnd.publish(message);
        }
      });
    };
    args.splice(position, 1, traced);
    return this.start.runStores(message, () => {
      try {
        return Reflect.apply(fn, thisArg, args);
      } catch (error) {
        throw this.#failed(message, error);
      } finally {
        this.end.publish(message);
      }
    });
  }

  #failed(message: Record<string, unknown>, error: unknown): Error {
    message["error"] = error;
    this.error.publish(message);
    return error as Error;
  }
}

export default {
  channel,
  hasSubscribers: (name: Name): boolean => channels.get(name)?.hasSubscribers === true,
  subscribe: (name: Name, subscriber: unknown): void => channel(name).subscribe(subscriber),
  unsubscribe: (name: Name, subscriber: unknown): boolean => channel(name).unsubscribe(subscriber),
  tracingChannel: (given: string | Tracing): TracingChannel => new TracingChannel(given),
  Channel,
};
