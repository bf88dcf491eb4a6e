/**
 * Untrusted side: removes `eval` and the function constructors from Node's own realm, in the thread that imports this
 * file first. The lane never compiles text there, and an attacker who gets hold of one of our functions would try its
 * `constructor`. V8 has a flag for this, but any V8 flag invalidates Node's code cache, and a process then takes half
 * as long again to start.
 */
function refuse(): never {
  throw new EvalError("code generation from strings is disabled here");
}

// Keeps `instanceof Function` working.
Object.defineProperty(refuse, "prototype", { value: Function.prototype });

// SECURITY: each of the four kinds of functions has its own constructor. test/escape/walls.test.ts
for (const kind of [function () {}, async function () {}, function* () {}, async function* () {}])
  Object.defineProperty(Object.getPrototypeOf(kind), "constructor", { value: refuse, writable: false, configurable: false });

for (const name of ["eval", "Function"]) Object.defineProperty(globalThis, name, { value: refuse, writable: false, configurable: false });
