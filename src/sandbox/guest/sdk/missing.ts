/** Inside the isolate: names of `openclaw/plugin-sdk` that need a whole gateway: functions that throw when they are used. */
const made = new Map<string, (...args: unknown[]) => never>();

export function missing(name: string): (...args: unknown[]) => never {
  const known = made.get(name);
  if (known) return known;
  const refuse = (): never => {
    throw new Error(`"${name}" of openclaw/plugin-sdk is not there in the sandbox: what it does needs a whole gateway around it`);
  };
  // An ordinary function, so that a class may extend it. Constructing one throws.
  const absent = function absent(): never {
    return refuse();
  };
  Object.assign(absent, { toString: refuse, valueOf: refuse, [Symbol.toPrimitive]: refuse });
  made.set(name, absent);
  return absent;
}
