/**
 * Compiles a handler to a WebAssembly component with SpiderMonkey in it, and that to what Node can load; once per handler, because it takes half a minute.
 * As a script it does so for the policy gate: setup.mjs calls it, so that no case has to wait.
 */
import { createHash } from "node:crypto";
import { access, mkdir, rename, writeFile } from "node:fs/promises";
import { POLICY_GATE } from "../handlers.ts";
import { installed, NotHere } from "./absent.ts";

interface Componentizer {
  readonly componentize: (source: string, options: object) => Promise<{ component: Uint8Array }>;
}
interface Transpiler {
  readonly transpile: (component: Uint8Array, options: object) => Promise<{ files: Record<string, Uint8Array> }>;
}

const WORLD = "package bench:hook; world plugin { export run: func(event: string, context: string) -> string; }";

/** The folder with `plugin.js`. */
export async function wasmOf(handler: string): Promise<URL> {
  const source = `const handler = ${handler};
    export function run(event, context) {
      const result = handler(JSON.parse(event), JSON.parse(context));
      return result === undefined ? "" : JSON.stringify(result);
    }`;
  const digest = createHash("sha256").update(source).digest("hex").slice(0, 16);
  const folder = new URL(`./node_modules/.cache/creel-bench/${digest}/`, import.meta.url);
  if (await isThere(folder)) return folder;
  const { componentize } = await installed<Componentizer>("@bytecodealliance/componentize-js");
  const { transpile } = await installed<Transpiler>("@bytecodealliance/jco");
  const disableFeatures = ["random", "stdio", "clocks", "http", "fetch-event"];
  const compiled = componentize(source, { witWorld: WORLD, worldName: "plugin", disableFeatures });
  const { files } = await compiled
    .then(({ component }) => transpile(component, { name: "plugin", instantiation: "async" }))
    .catch((error: unknown) => {
      throw new NotHere(`the handler does not compile to WebAssembly here: ${String(error)}`);
    });
  const draft = new URL(`../${digest}.${process.pid}/`, folder);
  await mkdir(draft, { recursive: true });
  await writeFile(new URL("package.json", draft), `{ "type": "module" }`);
  for (const [name, bytes] of Object.entries(files)) if (!name.includes("/")) await writeFile(new URL(name, draft), bytes);
  // Whole or not at all.
  await rename(draft, folder);
  return folder;
}

async function isThere(folder: URL): Promise<boolean> {
  return await access(folder).then(
    () => true,
    () => false,
  );
}

if (import.meta.main) await wasmOf(POLICY_GATE.handler);
