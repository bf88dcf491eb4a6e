/**
 * A WebAssembly plugin host: the handler compiled to a component (SpiderMonkey inside; componentize-js), run by Node through jco on the gateway's own
 * thread. JSON in, JSON out. It has no clock: nothing stops an endless loop in it, so it does less than the job.
 */
import { readFile } from "node:fs/promises";
import { contestant } from "../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../src/cli/bench/contestant.ts";
import { eventAt } from "../handlers.ts";
import type { Work } from "../handlers.ts";
import { wasmOf } from "./wasm-build.ts";

interface Component {
  readonly instantiate: (load: (name: string) => Promise<object>, imports: object) => Promise<Plugin>;
}
interface Plugin {
  run(event: string, context: string): string;
}

// Node has it; the types of this project are ECMAScript's and Node's.
const { WebAssembly } = globalThis as unknown as { WebAssembly: { compile(bytes: Uint8Array): Promise<object> } };

export async function wasmComponent(work: Work): Promise<Contestant> {
  const folder = await wasmOf(work.handler);
  const { instantiate } = (await import(new URL("plugin.js", folder).href)) as Component;
  const plugin = await instantiate(async (name) => WebAssembly.compile(await readFile(new URL(name, folder))), {});
  return contestant("a WebAssembly component, same thread, no clock", (at) => {
    const text = plugin.run(JSON.stringify(eventAt(work, at)), JSON.stringify(work.context));
    return text === "" ? undefined : JSON.parse(text);
  });
}
