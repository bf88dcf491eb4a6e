/** Inside the isolate: `perf_hooks`: the clock and nothing else. */
export default {
  get performance(): unknown {
    return Reflect.get(globalThis, "performance");
  },
};
