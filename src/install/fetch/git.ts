/**
 * Runs the operator's git, with their credentials and proxy. Makes an archive of a repository; checks nothing out and
 * runs no hook.
 */
import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { oneLine } from "../../text/one-line.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { Source } from "./source.ts";

export interface Archived {
  /** A tar archive of one commit. */
  readonly path: string;
  readonly commit: string;
}

/** SECURITY: no hooks, submodules or filters, and no commands through an address. test/install/fetch/git.test.ts */
const SETTINGS = ["core.hooksPath=/dev/null", "protocol.ext.allow=never", "core.fsmonitor=false", "core.attributesFile=/dev/null"];
const ALWAYS = SETTINGS.flatMap((setting) => ["-c", setting]);

export async function archive({ url, ref }: Extract<Source, { kind: "git" }>, into: string, signal?: AbortSignal): Promise<Archived> {
  const repository = join(into, "repository.git");
  await git(["init", "--bare", "--quiet", "--template=", repository], into, signal);
  const inside = (...args: string[]): Promise<string> => git(["--git-dir", repository, ...args], into, signal);
  await inside("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", url, ref ?? "HEAD");
  const commit = (await inside("rev-parse", "--verify", "FETCH_HEAD^{commit}")).trim();
  const path = join(into, "source.tar");
  await inside("archive", "--format=tar", "--prefix=package/", `--output=${path}`, commit);
  return { path, commit };
}

/** The commit that a repository has there now. Nothing of it is fetched. */
export async function commitOf({ url, ref = "HEAD" }: Extract<Source, { kind: "git" }>, signal?: AbortSignal): Promise<string> {
  const text = await git(["ls-remote", "--quiet", "--", url, ref, `${ref}^{}`], tmpdir(), signal);
  // An annotated tag has two lines; the last one is its commit.
  const commit = text.trim().split("\n").at(-1)?.split("\t")[0];
  // ls-remote does not list a commit by its id; a full id is taken as given.
  if (commit) return commit;
  if (/^[0-9a-f]{40}$/.test(ref)) return ref;
  throw new CreelError("ERR_INSTALL_GIT", { command: "ls-remote", detail: `there is no "${oneLine(ref, 100)}"` });
}

function git(args: readonly string[], cwd: string, signal: AbortSignal | undefined): Promise<string> {
  return new Promise((done, fail) => {
    const env = { ...process.env, GIT_TERMINAL_PROMPT: "0", GIT_LFS_SKIP_SMUDGE: "1" };
    execFile("git", [...ALWAYS, ...args], { cwd, signal, env, maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
      if (!error) return done(stdout);
      if (signal?.aborted) return fail(signal.reason as Error);
      const command = args.find((arg) => /^(?:init|fetch|rev-parse|archive|ls-remote)$/.test(arg)) ?? "";
      const detail = oneLine(stderr.trim().split("\n").at(-1) || error.message, 300);
      fail(new CreelError("ERR_INSTALL_GIT", { command, detail }));
    });
  });
}
