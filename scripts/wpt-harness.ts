/**
 * Runs inside a cell, before the scripts of a Web Platform Test: the functions those scripts expect of their harness. Written from what the
 * tests call, with plain JavaScript in mind: the functions below are sent as text, so they use nothing from around them.
 */
type Fn = (...args: never[]) => unknown;
export interface Verdict {
  name: string;
  isOk: boolean;
  message: string;
}

// oxlint-disable unicorn/consistent-function-scoping -- around it there is nothing when it runs
/** Puts the harness on the global object. What it returns waits for the tests and tells how they went. */
export function harness(resources: Record<string, string>): () => Promise<Verdict[]> {
  const scope = globalThis as unknown as Record<string, unknown>;
  const verdicts: Verdict[] = [];
  const running: Promise<void>[] = [];
  let queue = Promise.resolve();
  /** A file may be one test as a whole. */
  let single: { done(): void } | undefined;
  /** A test that has not ended by then never will. */
  const PATIENCE_MS = 3_000;

  const show = (value: unknown): string => {
    try {
      return typeof value === "string" ? JSON.stringify(value) : String(value);
    } catch {
      return "an object";
    }
  };
  const fail = (message: string, note?: unknown): never => {
    const error = new Error(note === undefined ? message : `${show(note)}: ${message}`);
    error.name = "AssertionError";
    throw error;
  };
  const same = (a: unknown, b: unknown): boolean => Object.is(a, b);
  const textOf = (error: unknown): string =>
    typeof error === "object" && error !== null && "message" in error
      ? `${(error as Error).name}: ${(error as Error).message}`
      : show(error);

  const judgeJs = (error: unknown, Class: { name: string }, note: unknown): void => {
    const { name, constructor } = (error ?? {}) as { name?: unknown; constructor?: unknown };
    if (name !== Class.name || constructor !== Class) fail(`threw ${textOf(error)} instead of ${Class.name}`, note);
  };
  const judgeDom = (error: unknown, kind: unknown, note: unknown): void => {
    const { name, code, constructor } = (error ?? {}) as { name?: unknown; code?: unknown; constructor?: unknown };
    const wanted = String(kind);
    const isRight =
      typeof kind === "number" ? code === kind : name === wanted || (scope["DOMException"] as Record<string, unknown>)[wanted] === code;
    if (!isRight || constructor !== scope["DOMException"]) fail(`threw ${textOf(error)} instead of a DOMException ${wanted}`, note);
  };
  const thrownBy = (act: Fn, note: unknown): unknown => {
    try {
      act();
    } catch (error) {
      return error;
    }
    return fail("did not throw", note);
  };
  const rejectionOf = async (promise: PromiseLike<unknown>, note: unknown): Promise<unknown> => {
    try {
      await promise;
    } catch (error) {
      return error;
    }
    return fail("was not rejected", note);
  };
  /** `assert_throws_dom` may be told the realm's constructor before the function. */
  const domArgs = (args: unknown[]): [act: unknown, note: unknown] =>
    args[0] === scope["DOMException"] ? [args[1], args[2]] : [args[0], args[1]];

  class Test {
    readonly name: string;
    readonly cleanups: Fn[] = [];
    phase = 1;
    readonly phases = { INITIAL: 0, STARTED: 1, HAS_RESULT: 2, CLEANING: 3, COMPLETE: 4 };
    readonly ended: Promise<void>;
    #end!: (error?: unknown) => void;
    constructor(name: string) {
      this.name = name;
      this.ended = new Promise((resolve, reject) => {
        this.#end = (error) => {
          this.phase = 4;
          if (error === undefined) resolve();
          // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what was thrown is what counts
          else reject(error);
        };
      });
      this.ended.catch(() => {});
    }
    step(act: Fn, self: unknown = this, ...args: unknown[]): unknown {
      if (this.phase === 4) return undefined;
      try {
        return Reflect.apply(act, self, args);
      } catch (error) {
        this.#end(error ?? new Error(show(error)));
        return undefined;
      }
    }
    step_func(act: Fn, self: unknown = this): Fn {
      return (...args: unknown[]) => this.step(act, self, ...args);
    }
    step_func_done(act: Fn = () => {}, self: unknown = this): Fn {
      return (...args: unknown[]) => {
        this.step(act, self, ...args);
        this.done();
      };
    }
    step_timeout(act: Fn, ms: number, ...args: unknown[]): unknown {
      return setTimeout(() => this.step(act, this, ...args), ms);
    }
    unreached_func(note: unknown): Fn {
      return this.step_func(() => fail("should not be reached", note));
    }
    add_cleanup(act: Fn): void {
      this.cleanups.push(act);
    }
    done(): void {
      if (this.phase !== 4) this.#end();
    }
    async settle(work: Promise<unknown>): Promise<void> {
      let timer: unknown;
      const patience = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error("did not end in time")), PATIENCE_MS);
      });
      try {
        await Promise.race([work, patience]);
        verdicts.push({ name: this.name, isOk: true, message: "" });
      } catch (error) {
        verdicts.push({ name: this.name, isOk: false, message: textOf(error).slice(0, 300) });
      }
      clearTimeout(timer as number);
      for (const act of this.cleanups) Reflect.apply(act, undefined, []);
    }
  }

  const api: Record<string, unknown> = {
    self: globalThis,
    location: { search: "", href: "https://web-platform.test/", pathname: "/" },
    GLOBAL: { isWindow: () => false, isWorker: () => true, isShadowRealm: () => false },
    setup: (...args: unknown[]) => {
      for (const one of args) {
        if (typeof one === "function") Reflect.apply(one as Fn, undefined, []);
        else if ((one as { single_test?: unknown } | undefined)?.single_test)
          single = (api["async_test"] as (name: string) => Test)("the file");
      }
    },
    done: () => single?.done(),
    promise_setup: (act: Fn) => {
      queue = queue.then(() => Reflect.apply(act, undefined, []) as Promise<void>);
    },
    test: (act: Fn, name = "untitled") => {
      const one = new Test(name);
      try {
        Reflect.apply(act, one, [one]);
        running.push(one.settle(Promise.resolve()));
      } catch (error) {
        running.push(one.settle(Promise.reject(error)));
      }
    },
    async_test: (first: unknown, second: unknown) => {
      const one = new Test(String(typeof first === "function" ? (second ?? "untitled") : first));
      if (typeof first === "function") one.step(first as Fn, one, one);
      running.push(one.settle(one.ended));
      return one;
    },
    promise_test: (act: Fn, name = "untitled") => {
      const one = new Test(name);
      queue = queue.then(() => {
        const work = (async () => Reflect.apply(act, one, [one]) as unknown)();
        return one.settle(work);
      });
    },
    generate_tests: (act: Fn, lists: [name: string, ...args: unknown[]][]) => {
      for (const [name, ...args] of lists) (api["test"] as Fn)((() => Reflect.apply(act, undefined, args)) as never, name as never);
    },
    step_timeout: (act: Fn, ms: number, ...args: unknown[]) => setTimeout(act, ms, ...(args as [])),
    format_value: show,
    assert_true: (value: unknown, note?: unknown) => same(value, true) || fail(`expected true, got ${show(value)}`, note),
    assert_false: (value: unknown, note?: unknown) => same(value, false) || fail(`expected false, got ${show(value)}`, note),
    assert_equals: (a: unknown, b: unknown, note?: unknown) => same(a, b) || fail(`expected ${show(b)}, got ${show(a)}`, note),
    assert_not_equals: (a: unknown, b: unknown, note?: unknown) => !same(a, b) || fail(`got ${show(a)}`, note),
    assert_in_array: (a: unknown, list: unknown[], note?: unknown) =>
      list.some((b) => same(a, b)) || fail(`${show(a)} is not in the list`, note),
    assert_array_equals: (a: ArrayLike<unknown>, b: ArrayLike<unknown>, note?: unknown) => {
      if (typeof a !== "object" || a === null) fail(`${show(a)} is no list`, note);
      if (a.length !== b.length) fail(`expected ${b.length} elements, got ${a.length}`, note);
      for (let i = 0; i < b.length; i++)
        if (!same(a[i], b[i]) || i in a !== i in b) fail(`expected ${show(b[i])} at ${i}, got ${show(a[i])}`, note);
    },
    assert_object_equals: (a: Record<string, unknown>, b: Record<string, unknown>, note?: unknown) => {
      const check = (x: Record<string, unknown>, y: Record<string, unknown>): void => {
        for (const key of new Set([...Object.keys(x), ...Object.keys(y)])) {
          if (!Object.hasOwn(x, key) || !Object.hasOwn(y, key)) fail(`only one has ${key}`, note);
          if (typeof x[key] === "object" && x[key] !== null) check(x[key] as Record<string, unknown>, y[key] as Record<string, unknown>);
          else if (!same(x[key], y[key])) fail(`${key}: expected ${show(y[key])}, got ${show(x[key])}`, note);
        }
      };
      check(a, b);
    },
    assert_less_than: (a: number, b: number, note?: unknown) => a < b || fail(`${a} is not less than ${b}`, note),
    assert_less_than_equal: (a: number, b: number, note?: unknown) => a <= b || fail(`${a} is more than ${b}`, note),
    assert_greater_than: (a: number, b: number, note?: unknown) => a > b || fail(`${a} is not more than ${b}`, note),
    assert_greater_than_equal: (a: number, b: number, note?: unknown) => a >= b || fail(`${a} is less than ${b}`, note),
    assert_approx_equals: (a: number, b: number, by: number, note?: unknown) =>
      Math.abs(a - b) <= by || fail(`${a} is not about ${b}`, note),
    assert_regexp_match: (a: string, pattern: RegExp, note?: unknown) => pattern.test(a) || fail(`${show(a)} does not match`, note),
    assert_class_string: (a: unknown, name: string, note?: unknown) =>
      Object.prototype.toString.call(a) === `[object ${name}]` || fail(`is ${Object.prototype.toString.call(a)}`, note),
    assert_own_property: (a: object, key: string, note?: unknown) => Object.hasOwn(a, key) || fail(`has no own ${key}`, note),
    assert_not_own_property: (a: object, key: string, note?: unknown) => !Object.hasOwn(a, key) || fail(`has its own ${key}`, note),
    assert_inherits: (a: object, key: string, note?: unknown) =>
      (key in a && !Object.hasOwn(a, key)) || fail(`does not inherit ${key}`, note),
    assert_idl_attribute: (a: object, key: string, note?: unknown) => key in a || fail(`has no ${key}`, note),
    assert_readonly: (a: Record<string, unknown>, key: string, note?: unknown) => {
      const before = a[key];
      try {
        a[key] = `${String(before)}x`;
      } catch {
        // Strict code hears of it.
      }
      if (!same(a[key], before)) fail(`${key} can be written`, note);
    },
    assert_unreached: (note?: unknown) => fail("should not be reached", note),
    assert_implements: (holds: unknown, note?: unknown) => Boolean(holds) || fail("is not implemented", note),
    assert_implements_optional: (holds: unknown, note?: unknown) => Boolean(holds) || fail("is not implemented", note),
    assert_throws_js: (Class: { name: string }, act: Fn, note?: unknown) => judgeJs(thrownBy(act, note), Class, note),
    assert_throws_dom: (kind: unknown, ...rest: unknown[]) => {
      const [act, note] = domArgs(rest);
      judgeDom(thrownBy(act as Fn, note), kind, note);
    },
    assert_throws_exactly: (wanted: unknown, act: Fn, note?: unknown) =>
      same(thrownBy(act, note), wanted) || fail("threw something else", note),
    promise_rejects_js: async (_: unknown, Class: { name: string }, promise: PromiseLike<unknown>, note?: unknown) =>
      judgeJs(await rejectionOf(promise, note), Class, note),
    promise_rejects_dom: async (_: unknown, kind: unknown, ...rest: unknown[]) => {
      const [promise, note] = domArgs(rest);
      judgeDom(await rejectionOf(promise as PromiseLike<unknown>, note), kind, note);
    },
    promise_rejects_exactly: async (_: unknown, wanted: unknown, promise: PromiseLike<unknown>, note?: unknown) =>
      same(await rejectionOf(promise, note), wanted) || fail("was rejected with something else", note),
    fetch_json: async (name: string) => JSON.parse(resources[name]!) as unknown,
    /** The tests' own data, by the name they ask for it. */
    fetch: async (name: unknown, init?: { body: unknown }) => {
      // A server's way to show what was sent to it.
      if (String(name).endsWith("/echo-content.py")) return new (scope["Response"] as typeof Response)(init!.body as string);
      const text = resources[String(name)];
      if (text === undefined) throw new TypeError(`no such resource: ${String(name)}`);
      return { ok: true, json: async () => JSON.parse(text) as unknown, text: async () => text };
    },
  };
  Object.assign(scope, api);
  return async () => {
    await queue;
    // Tests that were waiting may have added others.
    for (let at = 0; at < running.length; at++) await running[at];
    return verdicts;
  };
}
