/**
 * Node as the oracle: the same script runs in Node and in a cell, and what it says is compared. A script is a function's body that may `require`, and
 * returns a value; `show` makes text of what JSON cannot say, in the same way on both sides.
 */
import { createRequire } from "node:module";
import { expect } from "vitest";
import type { PluginSpec } from "creel";
import { sharedHost } from "../../../support/host.ts";
import type { Isolation } from "../../../support/host.ts";

/** Runs on both sides, so it uses the language alone. */
const SHOW = `
function show(value, depth = 0) {
  if (value === undefined) return "undefined";
  if (typeof value === "bigint") return value + "n";
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (typeof value === "symbol") return String(value);
  if (typeof value === "function") return "[function " + value.name + "]";
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (depth > 6) return "deep";
  if (value instanceof Error) return "!" + value.name + (value.code === undefined ? "" : " [" + value.code + "]") + ": " + value.message;
  if (value instanceof ArrayBuffer) return "ArrayBuffer" + show(Array.from(new Uint8Array(value)));
  if (ArrayBuffer.isView(value)) return value.constructor.name + "(" + Array.from(value).map((one) => show(one)).join(",") + ")";
  if (value instanceof Date) return "Date " + value.getTime();
  if (value instanceof RegExp) return String(value);
  if (value instanceof Map) return "Map" + show([...value], depth + 1);
  if (value instanceof Set) return "Set" + show([...value], depth + 1);
  if (Array.isArray(value)) return "[" + Array.from(value, (one) => show(one, depth + 1)).join(", ") + "]";
  const name = Object.getPrototypeOf(value) === null ? "null " : "";
  return name + "{" + Object.keys(value).map((key) => key + ": " + show(value[key], depth + 1)).join(", ") + "}";
}`;

const RUN = `
async function attempt(fn, args) {
  try { return show(await fn(...args)); } catch (error) { return show(error); }
}`;

export interface Script {
  /** Declarations that the expressions need. */
  readonly setup: string;
  /** Expressions; \`args\` holds what a property passes. */
  readonly expressions: readonly string[];
}

function body({ setup, expressions }: Script): string {
  return `${SHOW}${RUN}${setup}\nconst table = [${expressions.map((one) => `async (...args) => (${one})`).join(",\n")}];`;
}

function pluginOf(id: string, script: Script, grants: PluginSpec["grants"]): PluginSpec {
  const source = `${body(script)}
module.exports = (api) => api.on("message_sending", async (event) => {
  const { to, at, args } = JSON.parse(event.content);
  if (to !== ${JSON.stringify(id)}) return;
  const said = [];
  for (const fn of at === undefined ? table : [table[at]]) said.push(await attempt(fn, args));
  return { content: JSON.stringify({ to: "", said }) };
});`;
  return { id, source, hooks: { cpuMs: 5_000, timeoutMs: 20_000 }, ...(grants && { grants }) };
}

type Table = (...args: unknown[]) => Promise<string>;

function inNode(script: Script): Table[] {
  const require = createRequire(import.meta.url);
  // oxlint-disable-next-line typescript/no-implied-eval -- the oracle runs the script's text, as the cell does
  const make = new Function("require", `${body(script)}\nreturn table.map((fn) => (...args) => attempt(fn, args));`) as (
    require: unknown,
  ) => Table[];
  return make(require);
}

/** A host with one plugin per script. */
export function oracle<Name extends string>(isolation: Isolation, scripts: Readonly<Record<Name, Script>>, grants?: PluginSpec["grants"]) {
  const names = Object.keys(scripts) as Name[];
  const shared = sharedHost(isolation, { plugins: names.map((name) => pluginOf(name, scripts[name], grants)) });
  const nodes = Object.fromEntries(names.map((name) => [name, inNode(scripts[name])])) as Record<Name, Table[]>;

  async function inCell(to: Name, at: number | undefined, args: unknown[]): Promise<string[]> {
    const event = { to: "x", content: JSON.stringify({ to, at, args }) };
    const { result, calls } = await shared.host.run("message_sending", event, { channelId: "test" });
    expect(calls.map(({ plugin, status, error }) => [plugin, status, error?.message])).toEqual(
      names.map((name) => [name, "ok", undefined]),
    );
    return (JSON.parse(result!.content!) as { said: string[] }).said;
  }

  return {
    /** The expressions of a script that a cell answers otherwise; what they say is told when they are more than expected. */
    async differences(name: Name, known: Readonly<Record<string, string>> = {}): Promise<string[]> {
      const { expressions } = scripts[name];
      const [cell, node] = [await inCell(name, undefined, []), [] as string[]];
      for (const table of nodes[name]) node.push(await table());
      const differing = expressions.flatMap((one, i) => (cell[i] === node[i] ? [] : [{ one, cell: cell[i], node: node[i] }]));
      expect(differing.filter(({ one }) => !Object.hasOwn(known, one))).toEqual([]);
      return differing.map(({ one }) => one);
    },
    /** One expression with arguments, in the cell and in Node. */
    async both(name: Name, at: number, args: unknown[]): Promise<[cell: string | undefined, node: string]> {
      const [cell] = await inCell(name, at, args);
      // As the cell gets them: JSON knows no -0.
      return [cell, await nodes[name][at]!(...(JSON.parse(JSON.stringify(args)) as unknown[]))];
    },
  };
}
