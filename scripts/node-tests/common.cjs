/**
 * Stands for `test/common` of Node's repository, beside a test of it, in Node and inside a cell. Written from what the
 * tests call. `finished` waits until every function that must be called was, and gives what went wrong.
 */
"use strict";
const assert = require("assert");
const { inspect } = require("util");

/** A test that is not done by then never will be. */
const PATIENCE_MS = 4_000;
/** So long nothing may happen that must not. */
const QUIET_MS = 40;
const expected = [];
const failures = [];
const exits = [];

const listen = process.on.bind(process);
process.on = process.once = function (name, listener) {
  if (name === "exit" || name === "beforeExit") exits.push(listener);
  else listen(name, listener);
  return process;
};

class Skipped extends Error {}

/** Notes what it throws, which may reach nobody. */
function noted(fn, self, args) {
  try {
    const value = fn.apply(self, args);
    if (typeof value?.then === "function" && value instanceof Promise) value.catch((error) => failures.push(error));
    return value;
  } catch (error) {
    failures.push(error);
    throw error;
  }
}

function counted(fn, times, isExact) {
  const own = typeof fn === "function" ? fn : () => {};
  const one = { times: typeof fn === "number" ? fn : times, isExact, calls: 0, name: own.name };
  expected.push(one);
  function called(...args) {
    one.calls += 1;
    return noted(own, this, args);
  }
  Object.defineProperties(called, { name: { value: own.name }, length: { value: own.length } });
  return called;
}

const mustCall = (fn, times = 1) => counted(fn, times, true);
const mustCallAtLeast = (fn, times = 1) => counted(fn, times, false);
const mustNotCall = (message = "a function was called that must not be") =>
  function (...args) {
    const error = new Error(`${message} ${inspect(args).slice(0, 200)}`);
    failures.push(error);
    throw error;
  };

function mustNotMutateObjectDeep(original) {
  return original;
}

function invalidArgTypeHelper(input) {
  if (input == null) return ` Received ${input}`;
  if (typeof input === "function") return ` Received function ${input.name}`;
  if (typeof input === "object") {
    if (input.constructor?.name) return ` Received an instance of ${input.constructor.name}`;
    return ` Received ${inspect(input, { depth: -1 })}`;
  }
  const text = inspect(input, { colors: false });
  return ` Received type ${typeof input} (${text.length > 28 ? `${text.slice(0, 25)}...` : text})`;
}

function getArrayBufferViews(buf) {
  const { buffer, byteOffset, byteLength } = buf;
  const types = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array];
  return [
    ...types
      .filter(({ BYTES_PER_ELEMENT: size }) => byteLength % size === 0 && byteOffset % size === 0)
      .map((Type) => new Type(buffer, byteOffset, byteLength / Type.BYTES_PER_ELEMENT)),
    new DataView(buffer, byteOffset, byteLength),
  ];
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const isDone = ({ calls, times, isExact }) => (isExact ? calls === times : calls >= times);

module.exports = {
  mustCall,
  mustCallAtLeast,
  mustNotCall,
  mustSucceed: (fn, times = 1) =>
    counted(
      function (error, ...args) {
        assert.ifError(error);
        return typeof fn === "function" ? fn.apply(this, args) : undefined;
      },
      times,
      true,
    ),
  expectsError: (settings, times = 1) =>
    mustCall((error) => {
      assert.throws(() => {
        throw error;
      }, settings);
      return true;
    }, times),
  mustNotMutateObjectDeep,
  invalidArgTypeHelper,
  getArrayBufferViews,
  getBufferSources: (buf) => [...getArrayBufferViews(buf), new Uint8Array(buf).buffer],
  expectWarning() {},
  platformTimeout: (ms) => ms,
  skip(reason) {
    throw new Skipped(reason);
  },
  skipIfInspectorDisabled() {},
  printSkipMessage() {},
  allowGlobals() {},
  isWindows: false,
  isAIX: false,
  isIBMi: false,
  isLinux: true,
  isMacOS: false,
  isOSX: false,
  isMainThread: true,
  isDebug: false,
  hasCrypto: true,
  hasIntl: true,
  hasQuic: false,
  enoughTestMem: false,
  localhostIPv4: "127.0.0.1",
  /** Undefined: all went well. */
  async finished(run) {
    const startedMs = Date.now();
    try {
      run();
    } catch (error) {
      if (error instanceof Skipped) return "skipped";
      failures.push(error);
    }
    while (failures.length === 0 && !expected.every(isDone) && Date.now() - startedMs < PATIENCE_MS) await pause(10);
    await pause(QUIET_MS);
    for (const exit of failures.length === 0 ? exits : []) {
      try {
        exit.call(process, 0);
      } catch (error) {
        failures.push(error);
      }
    }
    const missed = expected
      .filter((one) => !isDone(one))
      .map(({ name, calls, times }) => `${name || "a function"}: ${calls} of ${times} calls`);
    const [first] = failures;
    return first === undefined ? missed[0] : String(first?.stack ?? first).slice(0, 400);
  },
};
