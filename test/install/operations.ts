/**
 * Operations of an operator that follow from a number and from what is installed, so that whoever watches a process knows what it was about to do:
 * installs, updates, downgrades, uninstalls, of tarballs and from a registry.
 */
import { createHash } from "node:crypto";
import type { InstallStep } from "../../src/install/install.ts";

export type StepName = InstallStep["step"];

export interface Operation {
  readonly id: string;
  /** What is installed afterwards; undefined: nothing of that id. */
  readonly version: string | undefined;
  readonly isolation: "thread" | "process";
  /** It ends itself as soon as that step begins. */
  readonly endsAt?: StepName | undefined;
}

/** Up and down. */
export const VERSIONS = ["1.0.0", "2.0.0"];
/** Comes from the registry, by the real npm; the others are tarballs. */
export const FROM_NPM = "from-npm";
/** Is asked before others are installed. */
export const GUARD = "guard";
export const IDS = ["plain", "other", FROM_NPM, GUARD];

/** What is installed: ids and versions. */
export type Model = ReadonlyMap<string, string>;

/** Numbers from 0 to 1 that follow from a seed and a name. */
export function dice(seed: number, name: string): number {
  return createHash("sha256").update(`${seed} ${name}`).digest().readUInt32BE() / 2 ** 32;
}

/** The steps that somebody is killed at for certain, each by the number of the operation: first those that only a registry has. */
const STEPS: readonly StepName[] = [
  "fetch",
  "verify",
  "unpack",
  "manifest",
  "bundle",
  "scan",
  "register",
  "review",
  "before_install",
  "activate",
];
export const ALL_STEPS: ReadonlySet<StepName> = new Set(STEPS);
const OF_REGISTRY: ReadonlySet<StepName> = new Set(["fetch", "verify"]);
const EVERY = 20;

export function operationOf(seed: number, number: number, model: Model): Operation {
  const of = (name: string) => dice(seed, `${number} ${name}`);
  const endsAt = number % EVERY === EVERY - 1 ? STEPS[Math.floor(number / EVERY) % STEPS.length] : undefined;
  const id = idOf(number, endsAt, of("id"));
  const now = model.get(id);
  const isolation = of("isolation") < 0.1 ? "process" : "thread";
  if (now !== undefined && endsAt === undefined && (id === GUARD || of("fate") < 0.7)) return { id, version: undefined, isolation };
  const others = VERSIONS.filter((version) => version !== now);
  return { id, version: others[Math.floor(of("version") * others.length)], isolation, endsAt };
}

/** The real npm takes a second: a few times are enough. The guard comes, is asked for a while, and goes. */
function idOf(number: number, endsAt: StepName | undefined, chance: number): string {
  if (number % 100 === 20 || number % 100 === 28) return GUARD;
  if ((endsAt && OF_REGISTRY.has(endsAt)) || number % 100 === 1) return FROM_NPM;
  return chance < 0.7 ? "plain" : "other";
}

export function applied(model: Model, { id, version }: Operation): Model {
  const next = new Map(model);
  if (version === undefined) next.delete(id);
  else next.set(id, version);
  return next;
}

export const sourceOf = (id: string, version: string): string => {
  const hook = id === GUARD ? "before_install" : "session_end";
  return `export default (api) => { api.on("${hook}", () => { globalThis.mark = "${id}@${version}"; }); };`;
};
