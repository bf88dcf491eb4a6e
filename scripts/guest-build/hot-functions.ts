/**
 * Build time: finds out which functions of the bootstrap every plugin needs. It builds the bootstrap once with a mark
 * in each function, then loads and calls a plugin as a lane does. The functions that ran are compiled with the script
 * and come out of the code cache; V8 compiles the others when they are called. Caching all of them cost 0.1 ms of a
 * cell's start, and memory that most plugins never use.
 */
import { setImmediate as turnOfLoop } from "node:timers/promises";
import { createContext, runInContext } from "node:vm";
import { parseSync } from "rolldown/utils";
import type { GuestFacts } from "../../src/protocol/guest-surface/world.ts";
import { callNumber, ENTRY, ERROR_MARK } from "../../src/protocol/messages/mail.ts";
import { PLUGIN_LIMITS } from "../../src/protocol/config/plugin-limits.ts";
import { LIBRARY_MARK } from "../../src/protocol/guest-surface/surface.ts";

/** Where functions begin in the chunk's text. */
export type Starts = ReadonlySet<number>;

/** A function of a chunk that can be put in parentheses or made a constant. */
export interface Candidate {
  readonly start: number;
  readonly end: number;
  readonly body: { readonly type: string; readonly start: number; readonly end: number };
  /** The name of a function declared at the top level of the script. */
  readonly declared: string | undefined;
}

const MARK = "__creelUsed";
const PLUGIN = `(function (exports, module) {
  module.exports = {
    id: "warm",
    register(api) {
      api.logger.info("loaded");
      api.on("before_tool_call", (event, context) => ({ params: event.params, by: context.agentId }));
      api.on("message_sending", async (event) => ({ content: event.content }));
    },
  };
})`;
const FACTS: GuestFacts = {
  api: { id: "warm", name: "warm", pluginConfig: {} },
  world: { env: {}, platform: "linux", arch: "x64", clock: "coarse", wasm: false },
};
const USUAL = Object.fromEntries(Object.entries(PLUGIN_LIMITS).map(([name, { usual }]) => [name, usual]));

interface Entries {
  enter(entry: number, ...args: unknown[]): unknown;
  dispatch(call: number, event: string, context: string): unknown;
  observe(call: number, event: string, context: string): unknown;
  mail(): unknown;
}

/** Gives the used functions of each chunk. `join` makes the guest's text from the chunks' texts. */
export async function functionsUsed(chunks: readonly string[], join: (codes: readonly string[]) => string): Promise<readonly Starts[]> {
  const used = chunks.map(() => new Set<number>());
  const guest = join(chunks.map((code, at) => marked(code, at)));
  const [bootstrap, library] = guest.split(LIBRARY_MARK);
  const context = createContext({ [MARK]: (chunk: number, start: number) => used[chunk]!.add(start) });
  const cell = runInContext(bootstrap!, context) as Entries;
  const factory: unknown = runInContext(PLUGIN, context);
  answered(cell.enter(ENTRY.load, factory, JSON.stringify(FACTS), JSON.stringify(USUAL), "00".repeat(32), library));
  answered(cell.dispatch(callNumber(1, 0), `{"params":{}}`, `{"agentId":"a"}`));
  answered(cell.dispatch(callNumber(2, 1), `{"content":"x"}`, "{}"));
  answered(cell.observe(callNumber(3, 0), `{"params":{}}`, "{}"));
  await turnOfLoop();
  cell.mail();
  return used;
}

function answered(returned: unknown): void {
  if (typeof returned === "string" && returned.trimStart().startsWith(ERROR_MARK))
    throw new Error(`the bootstrap does not work: ${returned}`);
}

/** Adds a mark to every candidate, which reports its first call. */
function marked(code: string, chunk: number): string {
  return inserted(
    code,
    candidates(code).flatMap(({ start, body }) => {
      const mark = `${MARK}(${chunk},${start})`;
      return body.type === "BlockStatement" || body.type === "FunctionBody"
        ? [{ at: body.start + 1, text: `${mark};` }]
        : [
            { at: body.start, text: `(${mark},` },
            { at: body.end, text: ")" },
          ];
    }),
  );
}

export interface Insertion {
  readonly at: number;
  readonly text: string;
}

/** Two insertions at one place keep their order. */
export function inserted(code: string, insertions: readonly Insertion[]): string {
  let made = "";
  let from = 0;
  for (const { at, text } of insertions.toSorted((a, b) => a.at - b.at)) {
    made += code.slice(from, at) + text;
    from = at;
  }
  return made + code.slice(from);
}

interface Node {
  readonly type?: unknown;
  readonly start: number;
  readonly end: number;
  readonly body: Candidate["body"];
  readonly method?: boolean;
  readonly kind?: string;
  readonly value?: object;
  readonly id?: { readonly name: string } | null;
}

/** Outer functions come before inner ones. */
export function candidates(code: string): Candidate[] {
  const { program, errors } = parseSync("guest.js", code, { sourceType: "script" });
  if (errors.length > 0) throw new Error(`the bootstrap does not parse: ${errors[0]!.message}`);
  const declared = new Set<object>(program.body.filter(({ type }) => type === "FunctionDeclaration"));
  const found: Candidate[] = [];
  const look = (node: object): void => {
    const { type, start, end, body, id } = node as Node;
    const isArrow = type === "ArrowFunctionExpression";
    if (isArrow || type === "FunctionExpression" || declared.has(node))
      found.push({ start, end, body, declared: declared.has(node) ? id!.name : undefined });
    // A method cannot be put in parentheses, but functions inside of it can.
    const inner = isMethod(node as Node) ? Object.values((node as Node).value!) : Object.values(node);
    for (const value of inner as unknown[]) if (typeof value === "object" && value !== null) look(value);
  };
  look(program);
  return found;
}

function isMethod({ type, method, kind }: Node): boolean {
  return type === "MethodDefinition" || (type === "Property" && (method === true || kind === "get" || kind === "set"));
}
