/** `performance` behaves as in Node. Its clock: test/escape/clock.test.ts. */
import { describe } from "vitest";
import { comparison } from "./compare.ts";

describe("performance", () => {
  const { same } = comparison();
  const fresh = `performance.clearMarks(); performance.clearMeasures();`;
  const list = `performance.getEntries().filter((e) => /mark|measure/.test(e.entryType)).map((e) => [e.name, e.entryType, e.startTime, e.duration, e.detail, e.constructor.name])`;

  same("marks and measures are kept, found and cleared", [
    `[typeof performance.now(), typeof performance.timeOrigin, performance instanceof EventTarget, Object.prototype.toString.call(performance)]`,
    `${fresh} const m = performance.mark("a", { startTime: 5, detail: { x: [1] } }); return [m.name, m.entryType, m.startTime, m.duration, m.detail, m instanceof PerformanceEntry, JSON.stringify(m), Object.prototype.toString.call(m)];`,
    `${fresh} performance.mark("a", { startTime: 5 }); performance.mark("b", { startTime: 8 }); const m = performance.measure("m", "a", "b"); return [m.startTime, m.duration, m.detail, JSON.stringify(m)];`,
    `${fresh} performance.mark("a", { startTime: 5 }); performance.mark("a", { startTime: 7 }); return performance.measure("m", { start: "a", end: 10, detail: 1 }).duration;`,
    `${fresh} const m = performance.measure("m", { start: 2, duration: 3 }); return [m.startTime, m.duration];`,
    `${fresh} const m = performance.measure("m", { end: 9, duration: 3 }); return [m.startTime, m.duration];`,
    `${fresh} performance.mark("b", { startTime: 2 }); performance.mark("a", { startTime: 1 }); performance.measure("m", { start: 1, end: 2 }); return ${list};`,
    `${fresh} performance.mark("a", { startTime: 1 }); performance.mark("b", { startTime: 2 }); performance.clearMarks("a"); return ${list};`,
    `${fresh} performance.mark("a"); performance.measure("a", { start: 0, end: 1 }); return [performance.getEntriesByName("a").length, performance.getEntriesByName("a", "mark").length, performance.getEntriesByType("measure").length, performance.getEntriesByName("z").length];`,
    `${fresh} const detail = { x: 1 }; const m = performance.mark("a", { detail }); detail.x = 2; return m.detail;`,
    `performance.measure("m", "absent")`,
    `performance.mark()`,
    `performance.mark("x", { startTime: -1 })`,
    `performance.mark("x", 5)`,
    `performance.mark("x", { detail: () => 1 })`,
    `performance.measure("m", { start: 1, end: 2, duration: 3 })`,
    `performance.measure("m", { start: 1 }, "b")`,
    `new PerformanceEntry()`,
    `new PerformanceMeasure()`,
    `new PerformanceMark("x", { startTime: 3 }).startTime`,
    `new Performance()`,
  ]);
});
