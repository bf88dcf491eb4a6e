/**
 * The executable for OpenClaw's `security.installPolicy`: it refuses native installs of plugins that can run in the
 * sandbox, and warns of the others. OpenClaw blocks an install when this fails, so it stays simple.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { examine } from "../check/examine.ts";
import { nativeOnlyLines } from "./native-only.ts";

export interface PolicyAnswer {
  readonly protocolVersion: 1;
  readonly decision: "allow" | "warn" | "block";
  readonly reason?: string;
}

const MAX_REASON = 900;
/** Creel cannot fetch from there, such as from ClawHub. */
const ELSEWHERE = "with its folder, or npm: and its name";

export async function policyAnswer(request: unknown): Promise<PolicyAnswer> {
  const { protocolVersion, targetType, targetName, sourcePath, request: asked } = Object(request) as Record<string, unknown>;
  if (protocolVersion !== 1) throw new Error("creel openclaw policy speaks protocolVersion 1");
  // Skills and hook packs come through the same door.
  if (targetType !== "plugin" || typeof sourcePath !== "string") return { protocolVersion: 1, decision: "allow" };
  // Of a package, OpenClaw asks before it has fetched the files, and then again: the second answer counts.
  if ((Object(asked) as { kind?: unknown }).kind === "plugin-npm" && !isPlugin(sourcePath))
    return { protocolVersion: 1, decision: "allow" };
  const [problem] = await problemsOf(sourcePath);
  if (problem === undefined)
    return {
      protocolVersion: 1,
      decision: "block",
      reason: `${String(targetName)} runs in Creel's sandbox. Install it there: creel openclaw move ${moveSourceOf(asked)}`.slice(
        0,
        MAX_REASON,
      ),
    };
  return { protocolVersion: 1, decision: "warn", reason: `It cannot run whole in Creel's sandbox: ${problem}`.slice(0, MAX_REASON) };
}

function isPlugin(dir: string): boolean {
  if (existsSync(join(dir, "openclaw.plugin.json"))) return true;
  try {
    return "openclaw" in (JSON.parse(readFileSync(join(dir, "package.json"), "utf8")) as object);
  } catch {
    return false;
  }
}

/** As `creel openclaw move` takes it. A word without a prefix would be an id there. */
export function moveSourceOf(request: unknown): string {
  const { kind, requestedSpecifier } = Object(request) as Record<string, unknown>;
  if (typeof requestedSpecifier !== "string") return ELSEWHERE;
  const spec = requestedSpecifier.replace(/^(?:npm-pack|file|path):/, "");
  if (/^(?:npm|git):|^(?:git\+)?https?:|^[./~]/.test(spec)) return quoted(spec);
  if (kind === "plugin-git") return quoted(spec.includes(":") ? spec : `git:${spec}`);
  if (kind === "plugin-npm") return quoted(`npm:${spec}`);
  return spec.includes(":") ? ELSEWHERE : quoted(`./${spec}`);
}

/** For a shell: the operator copies the line. */
function quoted(source: string): string {
  return /^[\w@%+=:,./~-]+$/.test(source) ? source : `'${source.replaceAll("'", `'\\''`)}'`;
}

async function problemsOf(path: string): Promise<string[]> {
  const native = nativeOnlyLines(path);
  if (native.length > 0) return native;
  try {
    return (await examine(path, "none")).problems.map(({ message }) => message);
  } catch (error) {
    return [(error as Error).message];
  }
}
