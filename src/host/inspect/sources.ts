/**
 * Trusted side: a plugin's source map as a debugger needs it: a data URL with the author's files in it, under their
 * absolute names. The sandbox has neither; the host puts it into the message that announces the script. The map comes
 * from the bundler, whose answers are not trusted: only files inside of the plugin's folder are read.
 */
import { readFile, realpath, stat } from "node:fs/promises";
import { resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { LIMITS } from "../../protocol/limits.ts";

/** Where a plugin's sources are. `text`: of a plugin given as text, which is one file. */
export interface SourcePlace {
  readonly root?: string | undefined;
  readonly text?: string | undefined;
}

interface FlatMap {
  readonly sources: readonly (string | null)[];
  readonly sourceRoot?: string;
}

/** Undefined: the map cannot be read. */
export async function sourceMapUrl(map: string, place: SourcePlace): Promise<string | undefined> {
  try {
    const parsed = JSON.parse(map) as FlatMap & { readonly sections?: readonly { readonly map: FlatMap }[] };
    const room = { bytes: LIMITS.inspect.sourcesBytes };
    const full = parsed.sections
      ? {
          ...parsed,
          sections: await Promise.all(
            parsed.sections.map(async (section) => ({ ...section, map: await withSources(section.map, place, room) })),
          ),
        }
      : await withSources(parsed, place, room);
    return `data:application/json;base64,${Buffer.from(JSON.stringify(full)).toString("base64")}`;
  } catch {
    return undefined;
  }
}

async function withSources(map: FlatMap, { root, text }: SourcePlace, room: { bytes: number }): Promise<object> {
  const { sources, sourceRoot, ...rest } = map;
  const names = sources.map((source) => (source === null ? null : (sourceRoot ?? "") + source));
  if (text !== undefined) return { ...rest, sources: names, sourcesContent: names.map((_, at) => (at === 0 ? text : null)) };
  if (root === undefined) return { ...rest, sources: names };
  const inside = `${await realpath(root)}${sep}`;
  const contents = await Promise.all(names.map(async (name) => (name === null ? null : contentOf(resolve(root, name), inside, room))));
  return { ...rest, sources: names.map((name) => name && pathToFileURL(resolve(root, name)).href), sourcesContent: contents };
}

/** SECURITY: a file outside of the plugin's folder is not read, not even through a link. test/host/inspect/sources.test.ts */
async function contentOf(path: string, inside: string, room: { bytes: number }): Promise<string | null> {
  try {
    const real = await realpath(path);
    const { size } = await stat(real);
    if (!real.startsWith(inside) || size > LIMITS.inspect.sourceBytes || size > room.bytes) return null;
    room.bytes -= size;
    return await readFile(real, "utf8");
  } catch {
    return null;
  }
}
