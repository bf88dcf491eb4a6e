/** Members of Node's modules that a cell's modules lack, found by listing both. */
import { execFileSync } from "node:child_process";
import { GUEST_MODULES } from "../../../../src/protocol/guest-surface/surface.ts";
import { open, plugin } from "../../../support/host.ts";

/** The file system has a page of its own; `constants` is a table of numbers, and `sys` is `util`. */
const MODULES = Object.keys(GUEST_MODULES).filter((name) => !/^(?:fs|module|constants|sys)\b/.test(name));

export interface Exports {
  readonly module: string;
  /** Not there. */
  readonly missing: readonly string[];
  /** There, and says why it cannot when it is called. */
  readonly refused: readonly string[];
  /** Node has none of that name. */
  readonly added: readonly string[];
}

/** A fresh process: that of the tests has more than Node's own. */
function inNode(): Record<string, string[]> {
  const script = `console.log(JSON.stringify(Object.fromEntries(${JSON.stringify(MODULES)}.map((name) => [name, Object.keys(require(name))]))))`;
  return JSON.parse(execFileSync(process.execPath, ["-e", script], { encoding: "utf8" })) as Record<string, string[]>;
}

async function inCell(): Promise<[module: string, names: string[], refused: string[]][]> {
  const modules = MODULES.map((name) => `[${JSON.stringify(name)}, require(${JSON.stringify(name)})]`).join(", ");
  const body = `
    const isRefused = (fn) => { try { fn(); } catch (error) { return error.code === "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM"; } return false; };
    const said = [${modules}].map(([name, module]) => [name, Object.keys(module), Object.keys(module).filter((key) => typeof module[key] === "function" && isRefused(module[key]))]);
    api.on("message_sending", () => ({ content: JSON.stringify(said) }));`;
  await using host = await open("thread", { plugins: [plugin("names", body)] });
  const { result } = await host.run("message_sending", { to: "x", content: "" }, { channelId: "chat" });
  return JSON.parse(result!.content!) as [string, string[], string[]][];
}

export async function compareExports(): Promise<Exports[]> {
  const node = inNode();
  return (await inCell()).map(([module, names, refused]) => {
    // Node's private names are nobody's business.
    const outside = node[module]!.filter((name) => !name.startsWith("_"));
    return {
      module,
      missing: outside.filter((name) => !names.includes(name)).toSorted(),
      refused: refused.toSorted(),
      added: names.filter((name) => !node[module]!.includes(name)).toSorted(),
    };
  });
}
