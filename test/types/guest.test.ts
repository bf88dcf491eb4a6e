/** What types/guest.d.ts declares is what a cell has, name by name: an editor neither promises what is absent nor hides what is there. */
import { readFileSync } from "node:fs";
import { parseSync } from "rolldown/utils";
import { describe, expect, it } from "vitest";
import { GUEST_GLOBALS, GUEST_MODULES } from "../../src/protocol/guest-surface/surface.ts";
import { REFUSED } from "../../src/sandbox/guest/node/crypto/crypto.ts";
import { open } from "../support/host.ts";

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

const program = (file: string): Node[] => {
  const path = new URL(`../../types/${file}`, import.meta.url);
  const { program: tree, errors } = parseSync(file, readFileSync(path, "utf8"), { lang: "dts" });
  if (errors.length > 0) throw new Error(errors[0]!.message);
  return tree.body as unknown as Node[];
};
const statements = [...program("web.d.ts"), ...program("node.d.ts"), ...program("node-io.d.ts"), ...program("node-net.d.ts")];

/** Of a declaration: `var x`, `const { a, b }`, `function f`, `class C`. Types have none. */
function namesOf(node: Node): string[] {
  if (node.type === "VariableDeclaration") return (node.declarations as { id: Node }[]).flatMap(({ id }) => boundBy(id));
  return node.type === "TSDeclareFunction" || node.type === "ClassDeclaration" ? [(node.id as { name: string }).name] : [];
}

function boundBy(id: Node): string[] {
  if (id.type === "Identifier") return [id.name as string];
  return (id.properties as { value: Node }[]).flatMap(({ value }) => boundBy(value));
}

const modules = new Map<string, Node[]>();
for (const node of statements)
  if (node.type === "TSModuleDeclaration") modules.set((node.id as { value: string }).value, (node.body as { body: Node[] }).body);

function exportsOf(module: string): Set<string> {
  const names = new Set<string>();
  for (const node of modules.get(module) ?? []) {
    if (node.type === "ExportAllDeclaration") {
      const { source, exported } = node as unknown as { source: { value: string }; exported: { name: string } | null };
      if (exported) names.add(exported.name);
      else for (const name of exportsOf(source.value)) names.add(name);
    }
    if (node.type !== "ExportNamedDeclaration") continue;
    const { declaration, specifiers } = node as unknown as { declaration: Node | null; specifiers: { exported: { name: string } }[] };
    for (const name of declaration ? namesOf(declaration) : specifiers.map(({ exported }) => exported.name)) names.add(name);
  }
  names.delete("default");
  return names;
}

/** There, and left out of the declarations on purpose, so that an editor flags them. */
const UNDECLARED: Readonly<Record<string, RegExp>> = {
  path: /^_makeLong$/,
  "path/posix": /^_makeLong$/,
  "path/win32": /^_makeLong$/,
  util: /^_extend$/,
  events: /^(?:init|usingDomains|captureRejections)$/,
  buffer: /^SlowBuffer$/,
  // They throw one sentence when they are called: crypto.subtle does their work.
  crypto: new RegExp(`^(?:${REFUSED.join("|")})$`),
  // As above: nothing watches.
  fs: /^(?:watch|watchFile|unwatchFile)$/,
  "fs/promises": /^watch$/,
  stream: /^_/,
  // They throw one sentence when they are called.
  zlib: /brotliCompress|zstd/i,
  // They throw one sentence when they are called: a plugin is no server and has no terminal.
  http: /^(?:Server|ServerResponse|createServer)$/,
  https: /^(?:Server|createServer)$/,
  tty: /^(?:Read|Write)Stream$/,
  net: /^(?:Server|createServer|BlockList|SocketAddress)$/,
  tls: /^(?:Server|createServer|setDefaultCACertificates)$/,
  // A table of numbers that old packages read.
  constants: /./,
  sys: /^_extend$/,
  console: /^(?:profile|profileEnd|timeStamp)$/,
};
/** Bound while bundling; `process` is an object, described by its interface. */
const NOT_IN_TABLE = new Set(["__filename", "__dirname"]);

const names = Object.keys(GUEST_MODULES).filter((name) => name !== "process");

/** What a cell really has. */
async function inCell(): Promise<{ globals: string[]; modules: Record<string, string[]> }> {
  const imports = names.map((name, at) => `import m${at} from "node:${name}";`).join("\n");
  const list = names.map((name, at) => `${JSON.stringify(name)}: m${at}`).join(", ");
  const source = `${imports}
    const own = (value) => Object.getOwnPropertyNames(value).filter((name) => !["length", "name", "prototype"].includes(name));
    export default (api) => api.on("message_sending", () => ({ content: JSON.stringify({
      globals: Object.getOwnPropertyNames(globalThis),
      modules: Object.fromEntries(Object.entries({ ${list} }).map(([name, value]) => [name, own(value)])),
    }) }));`;
  await using host = await open("thread", { plugins: [{ id: "all", source, hooks: { cpuMs: 2_000 } }] });
  const { result, calls } = await host.run("message_sending", { to: "x", content: "x" }, { channelId: "chat" });
  if (!result?.content) throw new Error(JSON.stringify([calls, host.inspect("all").error]));
  return JSON.parse(result.content) as never;
}

describe("types/guest.d.ts", async () => {
  const cell = await inCell();

  it("declares every global that a cell has beyond the language, and no other", () => {
    const declared = statements.flatMap(namesOf).filter((name) => !NOT_IN_TABLE.has(name));
    expect(declared.filter((name) => !cell.globals.includes(name))).toEqual([]);
    const timers = ["setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate", "queueMicrotask"];
    const there = [...Object.keys(GUEST_GLOBALS), ...timers];
    expect(there.filter((name) => !declared.includes(name))).toEqual([]);
    expect(declared.filter((name) => !there.includes(name))).toEqual([]);
  });

  it.each(names)("declares what the module %s has, and no more", (name) => {
    const declared = exportsOf(name);
    const there = cell.modules[name]!;
    expect([...declared].filter((one) => !there.includes(one))).toEqual([]);
    expect(there.filter((one) => !declared.has(one) && !UNDECLARED[name]?.test(one))).toEqual([]);
    expect(modules.has(`node:${name}`)).toBe(true);
  });
});
