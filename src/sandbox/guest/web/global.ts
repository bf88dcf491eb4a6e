/** Inside the isolate: the names of the global object in Node, and in workers of the Web. */
export const global = globalThis;
export const self = globalThis;
