/**
 * The same expressions in this Node and in a cell: Node 24 is the oracle. Each one is a line of JavaScript; what it gives, or the error it
 * throws, is written down by the same code on both sides and compared.
 */
import { expect, it } from "vitest";
import { sharedHost } from "../../../support/host.ts";

/** Runs on both sides. Writes values that JSON cannot say in a form it can. */
const RUNNER = `
// That a method was called on the wrong object is said with Node's code in some places only.
const AsyncFunction = (async () => {}).constructor;
function encode(value, depth = 0) {
  if (value === undefined) return "undefined";
  if (typeof value === "number" && (!Number.isFinite(value) || Object.is(value, -0))) return "number " + (Object.is(value, -0) ? "-0" : value);
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint" || typeof value === "symbol") return typeof value + " " + String(value);
  if (typeof value === "function") return "function " + value.name;
  if (typeof value !== "object" || value === null || depth > 6) return value;
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  if (Array.isArray(value)) return value.map((one) => encode(one, depth + 1));
  if (value instanceof Error || kind === "DOMException") return { [kind]: [value.name, value.message] };
  if (value instanceof Date) return { Date: String(value.getTime()) };
  if (value instanceof RegExp) return { RegExp: String(value) };
  if (value instanceof Map) return { Map: [...value].map((one) => encode(one, depth + 1)) };
  if (value instanceof Set) return { Set: [...value].map((one) => encode(one, depth + 1)) };
  if (value instanceof ArrayBuffer) return { ArrayBuffer: [...new Uint8Array(value)] };
  if (ArrayBuffer.isView(value)) return { [kind]: [...new Uint8Array(value.buffer, value.byteOffset, value.byteLength)] };
  return { [kind]: Object.keys(value).map((key) => [key, encode(value[key], depth + 1)]) };
}
async function run(lines, data) {
  const results = [];
  for (const line of lines) {
    try {
      results.push(encode(await new AsyncFunction("data", /^[\\s]*return|;/.test(line) ? line : "return (" + line + ")")(data)));
    } catch (error) {
      results.push({ thrown: typeof error === "object" && error !== null ? [error.name, error.constructor.name, error.code === "ERR_INVALID_THIS" ? undefined : error.code] : encode(error) });
    }
  }
  return JSON.stringify(results);
}`;

type Run = (lines: readonly string[], data: unknown) => Promise<string>;
// oxlint-disable-next-line typescript/no-implied-eval, no-new-func -- the oracle runs the very text that the cell runs
const inNode = new Function(`${RUNNER} return run;`)() as Run;

export interface Comparison {
  /** The results on both sides, in the order of the lines. `data` is JSON that the lines see as `data`. */
  readonly both: (lines: readonly string[], data?: unknown) => Promise<{ node: unknown[]; cell: unknown[] }>;
  /** The same, in the cell alone. */
  readonly inCell: (lines: readonly string[], data?: unknown) => Promise<unknown[]>;
  /** One test per area: every line gives what it gives in Node. */
  readonly same: (rule: string, lines: readonly string[]) => void;
}

/** One host and one cell for all tests of a file. */
export function comparison(): Comparison {
  const shared = sharedHost("process", {
    config: { limits: { bytesIn: 8_000_000, bytesOut: 8_000_000 } },
    plugins: [
      {
        id: "p",
        source: `${RUNNER}
          export default (api) => api.on("message_sending", async (event) => {
            const { lines, data } = JSON.parse(event.content);
            return { content: await run(lines, data) };
          });`,
        hooks: { cpuMs: 5_000, timeoutMs: 15_000 },
      },
    ],
  });
  const inCell: Comparison["inCell"] = async (lines, data = null) => {
    const outcome = await shared.host.run("message_sending", { to: "x", content: JSON.stringify({ lines, data }) }, { channelId: "chat" });
    expect(outcome.calls[0]).toMatchObject({ status: "ok" });
    return JSON.parse(outcome.result!.content!) as unknown[];
  };
  const both: Comparison["both"] = async (lines, data = null) => ({
    node: JSON.parse(await inNode(lines, data)) as unknown[],
    cell: await inCell(lines, data),
  });
  const same: Comparison["same"] = (rule, lines) => {
    // oxlint-disable-next-line vitest/valid-title -- the caller names the rule
    it(rule, async () => {
      const { node, cell } = await both(lines);
      // Line by line, so that a difference names its expression.
      expect(lines.map((line, i) => [line, cell[i]])).toEqual(lines.map((line, i) => [line, node[i]]));
    });
  };
  return { both, inCell, same };
}
