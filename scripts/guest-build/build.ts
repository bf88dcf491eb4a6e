/**
 * Build time: makes the guest's script, the bootstrap and library that run inside every cell, from src/sandbox/guest.
 * The package ships it as dist/sandbox/guest.bundle.js. From sources, the host runs this build (src/bundler/guest-
 * code.ts).
 */
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { guestEntries } from "../../src/protocol/guest-surface/surface.ts";
import { eager, exportsUsed, listed, shared } from "./eager.ts";
import { functionsUsed } from "./hot-functions.ts";
import { joinGuest } from "./join.ts";
import { known } from "./known.ts";
import { CHUNK, thin } from "./thin.ts";

/**
 * The entry of the bootstrap, and the chunk with everything that it needs at once: all files outside of web/ and node/.
 */
const MAIN = "boot/main";
const CORE = "core";
/** What runs when a cell starts. The last one is Rolldown's own runtime. */
const AT_ONCE: readonly string[] = [MAIN, CORE, "rolldown-runtime"];
const CORE_FILES =
  /[\\/](?:sandbox[\\/]guest[\\/](?:boot|turn|api)[\\/][^\\/]+|protocol[\\/](?!guest-surface[\\/](?:absent|api-members|connect-faults)).+)\.[jt]s$/;

/**
 * Gives a script whose value is the table of entry points. Each lazily loaded part of the library is a chunk of its
 * own.
 */
export async function buildGuest(): Promise<string> {
  await using build = await rolldown({
    input: Object.fromEntries([MAIN, ...guestEntries()].map((entry) => [entry, guestFile(entry)])),
    plugins: [known(), thin(guestFile)],
    platform: "neutral",
    resolve: { mainFields: ["module", "main"], conditionNames: ["import", "module", "default"] },
    logLevel: "silent",
    treeshake: true,
  });
  const { output } = await build.generate({
    format: "cjs",
    exports: "named",
    entryFileNames: "[name]",
    chunkFileNames: "[name]",
    // What every cell needs is one script, because names of other scripts are looked up through getters.
    codeSplitting: { groups: [{ name: CORE, test: (id: string) => CORE_FILES.test(id) }] },
    // No code checks whether a chunk was an ES module.
    esModule: false,
    generatedCode: { symbols: false },
    minify: { compress: true, mangle: { toplevel: false, keepNames: true }, codegen: true },
  });
  const chunks = output.flatMap((one) => (one.type === "chunk" ? one : []));
  const absent = chunks.flatMap(({ fileName, imports }) =>
    imports.filter((name) => !chunks.some((chunk) => chunk.fileName === name.replace(CHUNK, ""))).map((name) => `${name} in ${fileName}`),
  );
  if (absent.length > 0) throw new Error(`the guest imports packages that are not installed: ${absent.join(", ")}; run npm install`);
  const usedAtOnce = exportsUsed(chunks.flatMap(({ fileName, code }) => (AT_ONCE.includes(fileName) ? code : [])));
  const bootstrap = chunks.filter(({ fileName }) => AT_ONCE.includes(fileName));
  const codes = bootstrap.map(({ code }) => shared(listed(code), usedAtOnce));
  const library = chunks.filter(({ fileName }) => !AT_ONCE.includes(fileName));
  const join = (texts: readonly string[]): string =>
    joinGuest(MAIN, AT_ONCE, [...bootstrap.map(({ fileName }, at) => ({ fileName, code: texts[at]! })), ...library]);
  const used = await functionsUsed(codes, join);
  return join(codes.map((code, at) => eager(code, used[at])));
}

function guestFile(entry: string): string {
  return fileURLToPath(new URL(`../../src/sandbox/guest/${entry}.ts`, import.meta.url));
}
