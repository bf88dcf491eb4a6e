/** A git repository becomes an archive of one commit; nothing of it is run on the way. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { archive } from "../../../src/install/fetch/git.ts";
import { folder, write } from "../../support/files.ts";

const hasGit = spawnSync("git", ["--version"]).status === 0;

function repository(files: Record<string, string>): { url: string; root: string; commit: (files: Record<string, string>) => string } {
  const root = folder({});
  const git = (...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main", ...args], {
      cwd: root,
      encoding: "utf8",
    });
  git("init", "--quiet");
  const commit = (more: Record<string, string>): string => {
    write(root, more);
    git("add", "--all");
    git("commit", "--quiet", "--message", "x");
    return git("rev-parse", "HEAD").trim();
  };
  commit(files);
  return { url: pathToFileURL(root).href, root, commit };
}

describe.skipIf(!hasGit)("a git repository", () => {
  it("its newest commit, or the one that was named, becomes an archive", async () => {
    const { url, commit } = repository({ "index.js": "first" });
    const first = await archive({ kind: "git", url, ref: undefined }, folder({}));
    const second = commit({ "index.js": "second" });
    expect(readFileSync(first.path, "latin1")).toContain("first");
    const named = await archive({ kind: "git", url, ref: "main" }, folder({}));
    expect(named.commit).toBe(second);
    expect(readFileSync(named.path, "latin1")).toContain("package/index.js");
  });

  it("a repository that is not there is git's complaint, in one line", async () => {
    const url = pathToFileURL(join(folder({}), "nothing")).href;
    await expect(archive({ kind: "git", url, ref: undefined }, folder({}))).rejects.toMatchObject({ code: "ERR_INSTALL_GIT" });
  });

  it("neither hooks nor filters nor submodules of it run", async () => {
    const mark = join(folder({}), "ran");
    const script = `#!/bin/sh\ntouch ${mark}\n`;
    const { url } = repository({
      ".gitattributes": "* filter=evil\n*.js export-subst\n",
      ".gitmodules": `[submodule "x"]\n\tpath = x\n\turl = ext::touch ${mark}\n`,
      "post-checkout": script,
      "index.js": "$Format:%H$",
    });
    await archive({ kind: "git", url, ref: undefined }, folder({}));
    expect(existsSync(mark)).toBe(false);
  });
});
