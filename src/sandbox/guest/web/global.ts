/** Inside the isolate: what Node calls the global object. */
export const global = globalThis;
