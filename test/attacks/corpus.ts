/**
 * The corpus: each file is the body of one hostile plugin, written against `hook` and `host`. Here it becomes a plugin: `hook`
 * registers on before_tool_call, for a tool named like the plugin, so that an attack acts when it is told to; `host.call` is a
 * granted and awaited service call; `host.log` is the plugin's logger; `api` is there, too. The lines at its top say the rest (README.md).
 */
import { readdirSync, readFileSync } from "node:fs";
import type { PluginSpec } from "creel";
import { isDrive } from "./drives.ts";
import type { DriveName } from "./drives.ts";

/** What these do comes after their call, or to the gateway: neighbours feel it for as long as they stay, with threads as well. */
export const FELT = /^(?:sta|gwc|blm|apr|mod)-/;

export interface Attack {
  /** The file's name without its ending: `cpu-01-sync-loop`. */
  readonly name: string;
  /** The file's own `@class`. */
  readonly what: string;
  /** The source of the plugin. */
  readonly source: string;
  /** What the host is to do about it while it stays. */
  readonly expect: readonly Expectation[];
  readonly grants: Grants;
  /** Calls that are made again and again while it stays. */
  readonly drives: readonly DriveName[];
  /** So many plugins of this source at once. */
  readonly copies: number;
  /** Something in it may come back by itself when its call is over: a timer, or the answer to a question. */
  readonly isLate: boolean;
}

export type Grants = NonNullable<PluginSpec["grants"]>;

/**
 * named: the host says who it is: a fact, an error, a remark, a breaker, a move. moved: to the slow lane, or stopped. stopped: its breaker is not closed, or it
 * is not loaded any more. harmless: nothing, as long as its neighbours do not feel it.
 */
export const EXPECTATIONS = ["named", "moved", "stopped", "harmless"] as const;
export type Expectation = (typeof EXPECTATIONS)[number];

/** `host.call("sleep")` is a timer of the gateway's. */
const LATE = /\bset(?:Timeout|Interval|Immediate)\b|\bsleep\b|\bschedule\b|\bwaitAsync\b|@late\b/;
/** What every attack is granted, for `host.call`. */
const USUAL_GRANTS: Grants = { session: ["get"] };

const FOLDER = new URL("./corpus/", import.meta.url);

/** What they return is what they found out: it is logged, since the host refuses most of it as a result. */
const TELLING = /^esc-|^err-10-/;
/** What stands before such a log line. */
export const LOOT = "loot ";

/** The control: nothing of it may fail. */
export const CONTROL = "ok-00-benign";

export function readCorpus(): Attack[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith(".js"))
    .toSorted()
    .map((file) => attack(file.slice(0, -".js".length), readFileSync(new URL(file, FOLDER), "utf8")));
}

export function attack(name: string, text: string): Attack {
  const generated = annotation(text, "generate");
  const padding = annotation(text, "pad");
  return {
    name,
    what: annotation(text, "class") ?? name,
    source: `${padding === undefined ? "" : generate(name, padding)}${generated === undefined ? wrapped(text, TELLING.test(name)) : generate(name, generated)}`,
    expect: listed(name, text, "expect", isExpectation),
    grants: { ...USUAL_GRANTS, ...(JSON.parse(annotation(text, "grants") ?? "{}") as Grants) },
    drives: listed(name, text, "drive", isDrive),
    copies: Number(annotation(text, "copies") ?? 1),
    isLate: LATE.test(text),
  };
}

const isExpectation = (word: string): word is Expectation => (EXPECTATIONS as readonly string[]).includes(word);

function listed<T extends string>(name: string, text: string, key: string, isKnown: (word: string) => word is T): T[] {
  const words = (annotation(text, key) ?? "").split(/,\s*/).filter(Boolean);
  return words.map((word) => {
    if (!isKnown(word)) throw new Error(`${name}: @${key} says "${word}", which is unknown`);
    return word;
  });
}

/** A header line such as `// @class: CPU / …`. */
function annotation(text: string, key: string): string | undefined {
  return new RegExp(String.raw`^// @${key}: (.*)$`, "m").exec(text)?.[1];
}

/** A file may say that its source is too long to write down. */
function generate(name: string, recipe: string): string {
  const parts = /^'(.+)'\.repeat\(([\d.e]+)\)$/.exec(recipe);
  if (!parts) throw new Error(`${name}: a recipe of an unknown kind: ${recipe}`);
  return parts[1]!.replaceAll(String.raw`\n`, "\n").repeat(Number(parts[2]));
}

/**
 * CommonJS, because it is sloppy: an attacker has more ways there (`this`, `.caller`). `api.session.get` is asked for a key that
 * says what the gateway is to do; anything that is not a number is handed over as the key itself.
 */
function wrapped(body: string, isTelling: boolean): string {
  const tell = `(fn) => function (event, ctx) {
    const tell = (value) => { api.logger.info(${JSON.stringify(LOOT)} + JSON.stringify(value)); return value; };
    const value = fn(event, ctx);
    return value instanceof Promise ? value.then(tell) : tell(value);
  }`;
  // A cell has a `process` of its own, in which there is nothing of ours. Without it, whoever finds one has got out.
  const bare = body.includes("process") ? "delete globalThis.process;" : "";
  return `module.exports = function (api) {
  ${bare}
  const told = ${isTelling ? tell : "(fn) => fn"};
  const hook = (fn) => api.on("before_tool_call", told(fn), { matcher: [api.id] });
  const ask = async (key) => (await api.session.get(key)).value;
  const host = {
    log: (text) => api.logger.info(text),
    call: (name, arg) => ask(arg === undefined || typeof arg === "number" ? "attack:" + name + ":" + (arg ?? 0) : arg),
  };
${body}
};`;
}
