/**
 * Measures a plugin in the real sandbox for `creel bench`: the cost of a call per hook, compared with an empty handler
 * that takes turns with it, its load time and its memory.
 */
import { settled } from "../../protocol/config/permission-key.ts";
import { contextFor } from "../../host/run/absent-context.ts";
import { exampleOf } from "../call/input.ts";
import type { CallInput } from "../call/input.ts";
import { readConfig } from "../../discovery/config-file.ts";
import type { PluginSpec } from "../../discovery/plugin-spec.ts";
import type { CallBudget } from "../../host/plugins/budget.ts";
import { findPlugin } from "../../discovery/manifest.ts";
import { CATALOG, familyOf } from "../../protocol/catalog.ts";
import type { HookName } from "../../protocol/catalog.ts";
import type { CallError } from "../../protocol/outcome.ts";
import { histogram } from "./histogram.ts";
import type { Histogram } from "./histogram.ts";
import { latency, over, throughput } from "./measure.ts";
import type { Effort, Series } from "./measure.ts";
import type { Progress } from "./progress.ts";
import { estimate, median, quantile } from "./statistics.ts";
import type { Estimate } from "./statistics.ts";
import { CallFailed, Subject } from "./subject.ts";
import type { SubjectOptions } from "./subject.ts";

export interface Latency {
  readonly medianUs: number;
  readonly p90Us: number;
  readonly p99Us: number;
  readonly samples: number;
  readonly bins: Histogram;
}

export interface HookCost {
  readonly hook: string;
  readonly event: "sample" | "given";
  readonly latency: Latency;
  readonly empty: Latency;
  /** Of the plugin's latency to the empty handler's, formed within each round. */
  readonly ratio: Estimate;
  /** CPU time of its handlers per call, as its budget counts it. */
  readonly cpuUs: number;
  readonly budget: { readonly cpuMs: number; readonly wallMs: number };
  /** Of its CPU budget. */
  readonly share: number;
  /** With 64 calls always open. */
  readonly callsPerSecond: number;
  readonly emptyCallsPerSecond: number;
}

export interface BenchProblem {
  readonly hook: string;
  readonly message: string;
  readonly at: string | undefined;
  readonly fix: string;
}

export interface PluginFindings {
  readonly id: string;
  readonly version: string | undefined;
  readonly isolation: "process" | "thread";
  /** It did not load, and there is nothing else. */
  readonly error: CallError | undefined;
  readonly bundleBytes: number | undefined;
  readonly loadMs: number | undefined;
  readonly emptyLoadMs: number | undefined;
  /** Of one more such plugin in a sandbox process. */
  readonly memoryMb: number | undefined;
  readonly emptyMemoryMb: number | undefined;
  readonly hooks: readonly HookCost[];
  readonly problems: readonly BenchProblem[];
}

export interface BenchOptions {
  readonly path: string;
  readonly isolation: "process" | "thread";
  readonly config: string | undefined;
  /** Only these hooks; undefined: all it listens to. */
  readonly only: readonly HookName[] | undefined;
  /** Instead of a sample. */
  readonly input: CallInput | undefined;
  readonly isQuick: boolean;
  readonly progress: Progress;
}

const FULL: Effort = { rounds: 60, warmUpCalls: 10_000, warmUpMs: 1_500, roundsMs: 4_000 };
const QUICK: Effort = { rounds: 15, warmUpCalls: 1_000, warmUpMs: 300, roundsMs: 600 };
const IN_FLIGHT = 64;
/** Copies whose memory is compared with that of none: alone, a plugin's part of a process is noise. */
const COPIES = 8;
const LOADS = 5;
const EMPTY = "creel-bench-empty";

export async function benchPlugin({
  path,
  isolation,
  config: configPath,
  only,
  input,
  isQuick,
  progress,
}: BenchOptions): Promise<PluginFindings> {
  const { manifest } = await findPlugin(path);
  const options: SubjectOptions = { isolation, config: await readConfig(configPath), path: configPath };
  progress.begin("loading");
  await using subject = await Subject.open(manifest.id, [{ path }], options);
  const { id, version, error, bundle, loadMs: firstLoadMs, hooks: listened } = subject.report();
  const common = { id, version, isolation, error, bundleBytes: bundle?.bytes };
  const nothing = { loadMs: firstLoadMs, emptyLoadMs: undefined, memoryMb: undefined, emptyMemoryMb: undefined, hooks: [], problems: [] };
  if (error) return { ...common, ...nothing };
  const measured = new Map<HookName, CallBudget>();
  for (const { hook: key, budget } of listened)
    for (const name of hooksOf(key)) if (!only || only.includes(name)) measured.set(name, budget);
  const problems: BenchProblem[] = (only ?? [])
    .filter((hook) => !measured.has(hook))
    .map((hook) => ({ hook, message: "the plugin does not listen to it", at: undefined, fix: '"creel check" lists its hooks' }));
  if (measured.size === 0) return { ...common, ...nothing, problems };
  const emptySpec: PluginSpec = { id: EMPTY, source: emptySource([...measured.keys()]) };
  await using empty = await Subject.open(EMPTY, [emptySpec], options);
  const effort: Effort = { ...(isQuick ? QUICK : FULL), tell: progress.step };
  const hooks: HookCost[] = [];
  for (const [at, [hook, budget]] of [...measured].entries()) {
    progress.begin(`[${at + 1}/${measured.size}] ${hook}`);
    const event = exampleOf(CATALOG[hook]);
    const call: CallInput = input ?? { hook, event, ctx: contextFor(CATALOG[hook], event) };
    try {
      hooks.push({ ...(await costOf(subject, empty, call, budget, effort)), event: input ? "given" : "sample" });
    } catch (failure) {
      if (!(failure instanceof CallFailed)) throw failure;
      problems.push({ hook, message: failure.message, at: failure.at, fix: failure.fix });
    }
  }
  progress.begin("loading again");
  const [loadMs, emptyLoadMs] = await loadsOf(subject, empty);
  progress.begin("memory");
  const { grants } = settled(options.config.plugins?.entries?.[id] ?? {});
  const [memoryMb, emptyMemoryMb] = await memoryOf({ path, ...(grants && { grants }) }, emptySpec, options);
  return {
    ...common,
    loadMs: loadMs ?? firstLoadMs,
    emptyLoadMs: emptyLoadMs ?? empty.report().loadMs,
    memoryMb,
    emptyMemoryMb,
    hooks,
    problems,
  };
}

/** A plugin that listens to a family, such as `command`, is called with the first of it. */
function hooksOf(key: string): HookName[] {
  const names = Object.keys(CATALOG) as HookName[];
  return names.filter((name) => name === key || familyOf(name) === key).slice(0, 1);
}

function emptySource(hooks: readonly string[]): string {
  return `export default (api) => { for (const hook of ${JSON.stringify(hooks)}) api.on(hook, () => {}); };`;
}

async function costOf(
  subject: Subject,
  empty: Subject,
  input: CallInput,
  { cpuMs, wallMs }: CallBudget,
  effort: Effort,
): Promise<Omit<HookCost, "event">> {
  let cpuSum = 0;
  let calls = 0;
  const own = subject.calls("plugin", input, (ms) => {
    cpuSum += ms;
    calls += 1;
  });
  const other = empty.calls("empty handler", input, () => {});
  const [mine, its] = await latency([own, other] as const, effort, { samples: 20 });
  const cpuUs = (cpuSum / calls) * 1000;
  const [many, manyEmpty] = await throughput([own, other] as const, { ...effort, warmUpCalls: IN_FLIGHT }, IN_FLIGHT);
  return {
    hook: input.hook,
    latency: latencyOf(mine),
    empty: latencyOf(its),
    ratio: estimate(over(mine, its)),
    cpuUs,
    budget: { cpuMs: cpuMs.value, wallMs: wallMs.value },
    share: cpuUs / 1000 / cpuMs.value,
    callsPerSecond: median(many.samples) * 1000,
    emptyCallsPerSecond: median(manyEmpty.samples) * 1000,
  };
}

function latencyOf({ samples }: Series): Latency {
  const [medianUs, p90Us, p99Us] = [0.5, 0.9, 0.99].map((q) => quantile(samples, q)) as [number, number, number];
  return { medianUs, p90Us, p99Us, samples: samples.length, bins: histogram(samples) };
}

/** Takes turns: the first load in a sandbox also compiles shared code. */
async function loadsOf(...subjects: readonly [Subject, Subject]): Promise<(number | undefined)[]> {
  const times: number[][] = subjects.map(() => []);
  for (let load = 0; load < LOADS; load++)
    for (const [at, subject] of subjects.entries()) {
      const ms = await subject.reloadMs();
      if (ms !== undefined) times[at]!.push(ms);
    }
  return times.map((all) => (all.length === 0 ? undefined : median(all)));
}

/**
 * Megabytes per additional copy of the plugin and of the empty one. Undefined: not all copies load, or the system does
 * not report memory.
 */
async function memoryOf(
  spec: PluginSpec,
  emptySpec: PluginSpec,
  options: SubjectOptions,
): Promise<[number | undefined, number | undefined]> {
  const sizeWith = async (copied: PluginSpec, copies: number): Promise<number | undefined> => {
    const specs = Array.from({ length: copies }, (_, at) => ({ ...copied, id: `creel-bench-${at}` }));
    await using many = await Subject.open(EMPTY, [emptySpec, ...specs], { ...options, isolation: "process" });
    return many.isWhole ? many.memoryMb() : undefined;
  };
  const [none, all, allEmpty] = await Promise.all([sizeWith(emptySpec, 0), sizeWith(spec, COPIES), sizeWith(emptySpec, COPIES)]);
  const each = (size: number | undefined): number | undefined =>
    none === undefined || size === undefined ? undefined : Math.max(0, size - none) / COPIES;
  return [each(all), each(allEmpty)];
}
