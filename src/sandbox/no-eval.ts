/**
 * Untrusted side: takes the ways to make code out of text from Node's own realm, in the thread that imports this first. No text
 * of a plugin's is ever to be compiled there, and who got hold of one of our functions would begin with its `constructor`. V8 has a
 * switch for it, but any switch of V8's costs Node its code cache, and the start of a process takes half as long again.
 */
function refuse(): never {
  throw new EvalError("no code is made of text here");
}

// So that `instanceof Function` goes on to work.
Object.defineProperty(refuse, "prototype", { value: Function.prototype });

// SECURITY: all four kinds have a constructor of their own. test/escape/walls.test.ts
for (const kind of [function () {}, async function () {}, function* () {}, async function* () {}])
  Object.defineProperty(Object.getPrototypeOf(kind), "constructor", { value: refuse, writable: false, configurable: false });

for (const name of ["eval", "Function"]) Object.defineProperty(globalThis, name, { value: refuse, writable: false, configurable: false });
