/** The source map that a debugger gets, and which files it may contain. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sourceMapUrl } from "../../../src/host/inspect/sources.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";

interface Full {
  readonly sources: (string | null)[];
  readonly sourcesContent?: (string | null)[];
}

const read = (url: string | undefined): Full & { readonly sections: { readonly map: Full }[] } =>
  JSON.parse(Buffer.from(url!.split(",")[1]!, "base64").toString()) as never;
const map = (...sources: (string | null)[]): string => JSON.stringify({ version: 3, sources, names: [], mappings: "" });

let parent: string;
let root: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "creel-sources-"));
  root = join(parent, "plugin");
  await mkdir(root);
  await writeFile(join(root, "index.ts"), "export const one: number = 1;\n");
  await writeFile(join(parent, "secret.txt"), "a secret");
});

afterEach(() => rm(parent, { recursive: true, force: true }));

describe("a debugger's source map", () => {
  it("has the author's files under their absolute names, with their text", async () => {
    const full = read(await sourceMapUrl(map("index.ts", null), { root }));
    expect(full.sources).toEqual([pathToFileURL(join(root, "index.ts")).href, null]);
    expect(full.sourcesContent).toEqual(["export const one: number = 1;\n", null]);
  });

  it("has the text of a plugin that is given as text", async () => {
    const full = read(await sourceMapUrl(map("plugin.ts", "helper.ts"), { text: "const x = 1;" }));
    expect(full).toMatchObject({ sources: ["plugin.ts", "helper.ts"], sourcesContent: ["const x = 1;", null] });
  });

  it("completes each section of a map in sections", async () => {
    const sections = [{ offset: { line: 0, column: 0 }, map: JSON.parse(map("index.ts")) }];
    const full = read(await sourceMapUrl(JSON.stringify({ version: 3, sections }), { root }));
    expect(full.sections[0]!.map.sourcesContent).toEqual(["export const one: number = 1;\n"]);
  });

  it("reads no file outside of the plugin's folder: not by its path, not through a link", async () => {
    await symlink(join(parent, "secret.txt"), join(root, "link.ts"));
    await symlink(parent, join(root, "up"));
    await mkdir(join(parent, "plugin-other"));
    await writeFile(join(parent, "plugin-other", "index.ts"), "a neighbour");
    const names = ["../secret.txt", join(parent, "secret.txt"), "link.ts", "up/secret.txt", "../plugin-other/index.ts"];
    const full = read(await sourceMapUrl(map(...names), { root }));
    expect(full.sourcesContent).toEqual(names.map(() => null));
  });

  it("reads no file that is too large, and not more than its room of all together", async () => {
    await writeFile(join(root, "large.ts"), "x".repeat(LIMITS.inspect.sourceBytes + 1));
    const full = read(await sourceMapUrl(map("large.ts", "index.ts"), { root }));
    expect(full.sourcesContent).toEqual([null, "export const one: number = 1;\n"]);
    const count = Math.ceil(LIMITS.inspect.sourcesBytes / LIMITS.inspect.sourceBytes) + 1;
    await writeFile(join(root, "full.ts"), "x".repeat(LIMITS.inspect.sourceBytes));
    const many = read(await sourceMapUrl(map(...Array.from({ length: count }, () => "full.ts")), { root }));
    const length = many.sourcesContent!.reduce((sum, text) => sum + (text?.length ?? 0), 0);
    expect(length).toBeLessThanOrEqual(LIMITS.inspect.sourcesBytes);
    expect(length).toBeGreaterThan(0);
  });

  it("is left out if the map cannot be read", async () => {
    expect(await sourceMapUrl("not a map", { root })).toBeUndefined();
    expect(await sourceMapUrl("{}", { root })).toBeUndefined();
  });
});
