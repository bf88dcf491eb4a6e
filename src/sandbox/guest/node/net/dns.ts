/** Inside the isolate: `dns`, with callbacks, over `dns/promises`. */
// oxlint-disable promise/no-callback-in-promise -- Node's own form
import { checkFunction } from "../errors.ts";
import promises, { CODES, lookup as found, ORDER, SERVERS } from "./dns-promises.ts";
import type { Found } from "./dns-promises.ts";

type Done = (error: unknown, ...results: unknown[]) => void;

function lookup(hostname: string, given: unknown, done?: Done): void {
  const callback = (typeof given === "function" ? given : done) as Done;
  checkFunction(callback, "callback");
  const options = typeof given === "function" ? undefined : (given as Parameters<typeof found>[1]);
  found(hostname, options).then(
    (one) => (Array.isArray(one) ? callback(null, one) : callback(null, (one as Found).address, (one as Found).family)),
    (error: unknown) => callback(error),
  );
}

/** The last argument is the callback; options before it have no effect but the type of `resolve`. */
const called =
  (promised: (hostname: string, type?: string) => Promise<unknown>) =>
  (hostname: string, ...rest: unknown[]): void => {
    const done = rest.at(-1) as Done;
    checkFunction(done, "callback");
    promised(hostname, typeof rest[0] === "string" ? rest[0] : undefined).then(
      (value) => done(null, value),
      (error: unknown) => done(error),
    );
  };

const RECORDS = Object.keys(promises).filter((name) => /^(?:resolve|reverse)/.test(name));
const records = Object.fromEntries(
  RECORDS.map((name) => [name, called((promises as unknown as Record<string, (hostname: string) => Promise<unknown>>)[name]!)]),
);

class Resolver {
  cancel(): void {}
  setLocalAddress(): void {}
}
Object.assign(Resolver.prototype, records, SERVERS);

export default {
  lookup,
  ...records,
  ...SERVERS,
  ...ORDER,
  ...CODES,
  ADDRCONFIG: 1024,
  ALL: 256,
  V4MAPPED: 2048,
  Resolver,
  promises,
};
