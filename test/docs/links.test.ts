/** Every link between the pages of this repository leads to a file and a heading that exist. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = globSync(["*.md", "docs/**/*.md", "bench/*.md", "test/*.md", "plugins-examples/**/*.md", ".github/**/*.md"], {
  cwd: root,
  exclude: ["**/node_modules/**"],
});
const withoutCode = (text: string): string => text.replaceAll(/^```[^]*?^```$/gm, "");

/** As GitHub makes them: of a heading's text in lower case, with dashes for spaces; the second of a name gets "-1". */
function anchorsOf(text: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = Array.from(withoutCode(text).matchAll(/^#+ (.+)$/gm), ([, title]) => {
    const plain = title!.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const anchor = plain.replaceAll(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-");
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  });
  return new Set(anchors);
}

/** Names of files as code: from the root, or below src. */
const filesOf = (text: string): string[] =>
  Array.from(text.matchAll(/`((?:src|scripts|test|host|sandbox)\/[\w./-]+\.ts)`/g), ([, path]) => path!);

describe("links", () => {
  it.each(["AGENTS.md", "CONTRIBUTING.md", "test/README.md", ...globSync(["docs/*.md", "docs/adr/*.md"], { cwd: root })])(
    "files that %s names exist",
    (page) => {
      const missing = filesOf(readFileSync(join(root, page), "utf8")).filter(
        (path) => !existsSync(join(root, path)) && !existsSync(join(root, "src", path)),
      );
      expect(missing).toEqual([]);
    },
  );

  it("the walk of docs/architecture.md names files that exist", () => {
    const page = readFileSync(join(root, "docs/architecture.md"), "utf8");
    const walk = /## The walk of[^]*?```\n([^]*?)```/.exec(page)![1]!;
    const names = new Set(globSync("src/**/*.ts", { cwd: root }).map((path) => path.split("/").at(-1)!));
    const missing = Array.from(walk.matchAll(/[\w-]+\.ts/g), ([name]) => name).filter((name) => !names.has(name));
    expect(missing).toEqual([]);
  });

  it.each(pages)("of %s lead somewhere", (page) => {
    const text = readFileSync(join(root, page), "utf8");
    const links = Array.from(withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g), ([, link]) => link!).filter((link) => !/^\w+:/.test(link));
    const broken = links.filter((link) => {
      const [path, anchor] = link.split("#") as [string, string | undefined];
      const target = path === "" ? join(root, page) : join(root, dirname(page), path);
      if (!existsSync(target)) return true;
      return anchor !== undefined && target.endsWith(".md") && !anchorsOf(readFileSync(target, "utf8")).has(anchor);
    });
    expect(broken).toEqual([]);
  });
});
