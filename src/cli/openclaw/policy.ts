/**
 * The executable for OpenClaw's `security.installPolicy`: it refuses native installs of plugins that can run in the
 * sandbox, and warns of the others. OpenClaw blocks an install when this fails, so it stays simple.
 */
import { examine } from "../check/examine.ts";

export interface PolicyAnswer {
  readonly protocolVersion: 1;
  readonly decision: "allow" | "warn" | "block";
  readonly reason?: string;
}

const MAX_REASON = 900;

export async function policyAnswer(request: unknown): Promise<PolicyAnswer> {
  const { protocolVersion, targetType, targetName, sourcePath } = Object(request) as Record<string, unknown>;
  if (protocolVersion !== 1) throw new Error("creel openclaw policy speaks protocolVersion 1");
  // Skills and hook packs come through the same door.
  if (targetType !== "plugin" || typeof sourcePath !== "string") return { protocolVersion: 1, decision: "allow" };
  const [problem] = await problemsOf(sourcePath);
  if (problem === undefined)
    return {
      protocolVersion: 1,
      decision: "block",
      reason: `${String(targetName)} runs in Creel's sandbox. Install it there: creel openclaw move ${String(targetName)}`,
    };
  return { protocolVersion: 1, decision: "warn", reason: `It cannot run in Creel's sandbox: ${problem}`.slice(0, MAX_REASON) };
}

async function problemsOf(path: string): Promise<string[]> {
  try {
    return (await examine(path, "none")).problems.map(({ message }) => message);
  } catch (error) {
    return [(error as Error).message];
  }
}
