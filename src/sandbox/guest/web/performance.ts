/**
 * Inside the isolate: `performance`: the clock, marks and measures. It has no observers and says nothing about the
 * host's event loop.
 */
import { structuredClone } from "./clone.ts";
import { now, timeOrigin } from "./clock.ts";
import { DOMException } from "./dom-exception.ts";
import { EventTarget } from "./events.ts";
import { coded, expose, inspectAs, missing, wrongType } from "./idl.ts";
import { str, usv } from "./text.ts";

const OURS = Symbol("ours");

interface Fields {
  readonly name: string;
  readonly entryType: string;
  readonly startTime: number;
  readonly duration: number;
}

export class PerformanceEntry {
  readonly #fields: Fields;
  constructor(ours?: symbol, fields?: Fields) {
    if (ours !== OURS) throw illegal();
    this.#fields = fields!;
  }
  get name(): string {
    return this.#fields.name;
  }
  get entryType(): string {
    return this.#fields.entryType;
  }
  get startTime(): number {
    return this.#fields.startTime;
  }
  get duration(): number {
    return this.#fields.duration;
  }
  toJSON(): object {
    return { ...this.#fields };
  }
}

interface MarkOptions {
  startTime?: unknown;
  detail?: unknown;
}

export class PerformanceMark extends PerformanceEntry {
  readonly #detail: unknown;
  constructor(name: unknown, ...[options]: [options?: MarkOptions | null]) {
    if (arguments.length === 0) throw missing("name");
    if (options !== undefined && options !== null && typeof options !== "object") throw wrongType("options", "of type object", options);
    const { startTime, detail } = options ?? {};
    const at = startTime === undefined ? now() : Number(startTime);
    if (!(at >= 0)) throw coded(TypeError, "ERR_PERFORMANCE_INVALID_TIMESTAMP", `${at} is not a valid timestamp`);
    super(OURS, { name: str(name), entryType: "mark", startTime: at, duration: 0 });
    this.#detail = detail === undefined || detail === null ? null : structuredClone(detail);
  }
  get detail(): unknown {
    return this.#detail;
  }
  override toJSON(): object {
    return { ...super.toJSON(), detail: this.#detail };
  }
}

export class PerformanceMeasure extends PerformanceEntry {
  readonly #detail: unknown;
  constructor(...[ours, fields, detail]: [ours?: symbol, fields?: Fields, detail?: unknown]) {
    super(ours, fields);
    this.#detail = detail === undefined || detail === null ? null : structuredClone(detail);
  }
  get detail(): unknown {
    return this.#detail;
  }
  override toJSON(): object {
    return { ...super.toJSON(), detail: this.#detail };
  }
}

interface MeasureOptions {
  start?: unknown;
  end?: unknown;
  duration?: unknown;
  detail?: unknown;
}

/** Kept on the plugin's heap until the plugin clears them, as in Node. */
let entries: (PerformanceMark | PerformanceMeasure)[] = [];

export class Performance extends EventTarget {
  constructor(ours?: symbol) {
    if (ours !== OURS) throw illegal();
    super();
  }

  clearMarks(...[name]: unknown[]): void {
    clear("mark", name === undefined ? undefined : usv(name));
  }
  clearMeasures(...[name]: unknown[]): void {
    clear("measure", name === undefined ? undefined : usv(name));
  }
  clearResourceTimings(): void {}
  getEntries(): PerformanceEntry[] {
    return entries.toSorted((a, b) => a.startTime - b.startTime);
  }
  getEntriesByName(name: unknown, ...[type]: unknown[]): PerformanceEntry[] {
    if (arguments.length === 0) throw missing("name");
    return this.getEntries().filter((one) => one.name === str(name) && (type === undefined || one.entryType === type));
  }
  getEntriesByType(type: unknown): PerformanceEntry[] {
    if (arguments.length === 0) throw missing("type");
    return this.getEntries().filter((one) => one.entryType === str(type));
  }
  mark(name: unknown, ...[options]: [options?: MarkOptions | null]): PerformanceMark {
    if (arguments.length === 0) throw missing("name");
    const mark = new PerformanceMark(name, options);
    entries.push(mark);
    return mark;
  }
  measure(name: unknown, ...[from, to]: [from?: unknown, to?: unknown]): PerformanceMeasure {
    if (arguments.length === 0) throw missing("name");
    const options: MeasureOptions = typeof from === "object" && from !== null ? from : { start: from, end: to };
    const { start, end, duration, detail } = options;
    if (options === from && to !== undefined) throw invalid("endMark must not be specified");
    if (start !== undefined && end !== undefined && duration !== undefined)
      throw invalid("Must not have options.start, options.end, and options.duration specified");
    const until =
      end !== undefined ? timeOf(end) : start !== undefined && duration !== undefined ? timeOf(start) + timeOf(duration) : now();
    const since = start !== undefined ? timeOf(start) : duration !== undefined && end !== undefined ? until - timeOf(duration) : 0;
    const measure = new PerformanceMeasure(
      OURS,
      { name: str(name), entryType: "measure", startTime: since, duration: until - since },
      detail,
    );
    entries.push(measure);
    return measure;
  }
  now(): number {
    return now();
  }
  setResourceTimingBufferSize(): void {}
  get timeOrigin(): number {
    return timeOrigin;
  }
  toJSON(): object {
    return { timeOrigin };
  }
}

/** A time, or the name of a mark, of which the last counts. */
function timeOf(mark: unknown): number {
  if (typeof mark === "number") {
    if (mark < 0) throw coded(TypeError, "ERR_PERFORMANCE_INVALID_TIMESTAMP", `${mark} is not a valid timestamp`);
    return mark;
  }
  const name = str(mark);
  const found = entries.findLast((one) => one.entryType === "mark" && one.name === name);
  if (!found) throw new DOMException(`The "${name}" performance mark has not been set`, "SyntaxError");
  return found.startTime;
}

function clear(type: string, name: string | undefined): void {
  entries = entries.filter((one) => one.entryType !== type || (name !== undefined && one.name !== name));
}

function invalid(rule: string): TypeError {
  return coded(TypeError, "ERR_PERFORMANCE_MEASURE_INVALID_OPTIONS", rule);
}

function illegal(): TypeError {
  return coded(TypeError, "ERR_ILLEGAL_CONSTRUCTOR", "Illegal constructor");
}

export const performance = new Performance(OURS);

expose(PerformanceEntry);
Reflect.deleteProperty(PerformanceEntry.prototype, Symbol.toStringTag);
expose(PerformanceMark, ["toJSON"]);
expose(PerformanceMeasure, ["toJSON"]);
expose(Performance);
for (const Class of [PerformanceEntry, Performance]) Object.defineProperty(Class, "length", { value: 0 });
inspectAs<PerformanceEntry>(PerformanceEntry, (self) => self.toJSON());
inspectAs<Performance>(Performance, (self) => ({ timeOrigin: self.timeOrigin }));
