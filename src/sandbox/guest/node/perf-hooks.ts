/** Inside the isolate: `perf_hooks`, of which only the clock exists. */
export default {
  get performance(): unknown {
    return Reflect.get(globalThis, "performance");
  },
};
