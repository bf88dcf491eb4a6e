/** The operator's own git, as a process: their credentials, their proxy. A repository becomes an archive; nothing is checked out, no hook runs. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { oneLine } from "../host/guest-error.ts";
import { CreelError } from "../protocol/errors.ts";
import type { Source } from "./source.ts";

export interface Archived {
  /** A tar archive of one commit. */
  readonly path: string;
  readonly commit: string;
}

/** SECURITY: no hooks, no submodules, no filters, no way to run a command through an address. test/install/git.test.ts */
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

function git(args: readonly string[], cwd: string, signal: AbortSignal | undefined): Promise<string> {
  return new Promise((done, fail) => {
    const env = { ...process.env, GIT_TERMINAL_PROMPT: "0", GIT_LFS_SKIP_SMUDGE: "1" };
    execFile("git", [...ALWAYS, ...args], { cwd, signal, env, maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
      if (!error) return done(stdout);
      if (signal?.aborted) return fail(signal.reason as Error);
      const command = args.find((arg) => /^(?:init|fetch|rev-parse|archive)$/.test(arg)) ?? "";
      const detail = oneLine(stderr.trim().split("\n").at(-1) || error.message, 300);
      fail(new CreelError("ERR_INSTALL_GIT", { command, detail }));
    });
  });
}
