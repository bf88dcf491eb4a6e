/**
 * CPU time of a command with all processes that it starts: user and system, in milliseconds. A shell that is the first process of a PID namespace
 * inherits what the command leaves or kills, and counts it as well. Without such a namespace those are missing.
 */
import { spawnSync } from "node:child_process";

const NAMESPACE = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"];
/** The pause is for the kernel to end what was killed. */
const SCRIPT = `"$@" > /dev/null; code=$?; sleep 0.05; times; exit $code`;

/** Whether killed processes count. */
export const countsAll = spawnSync(NAMESPACE[0]!, [...NAMESPACE.slice(1), "true"]).status === 0;

export function cpuMs(command: readonly string[], cwd: string, env: NodeJS.ProcessEnv = process.env): number {
  const [program, ...args] = [...(countsAll ? NAMESPACE : []), "bash", "-c", SCRIPT, "cpu-time", ...command];
  const { status, stdout, stderr } = spawnSync(program!, args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  if (status !== 0) throw new Error(`${command.join(" ")} ended with ${status}: ${stderr}`);
  // The first line is the shell itself.
  const [user, system] = Array.from(
    stdout
      .trim()
      .split("\n")[1]!
      .matchAll(/(\d+)m([\d.]+)s/g),
    ([, minutes, seconds]) => Number(minutes) * 60 + Number(seconds),
  );
  return (user! + system!) * 1_000;
}
