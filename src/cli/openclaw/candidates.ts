/** Which plugins of an OpenClaw installation can be moved, which are moved already, and why the others cannot be. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readShim, shimIn } from "../../openclaw/shim-files.ts";
import type { ShimFacts } from "../../openclaw/shim-facts.ts";
import type { GatewayCommand, GatewayPlugin } from "./gateway-command.ts";

export interface Candidate {
  readonly id: string;
  readonly version: string | undefined;
  readonly isEnabled: boolean;
  /** `sandboxed`: OpenClaw loads Creel's shim. */
  readonly state: "native" | "sandboxed";
  /** The folder of the native plugin; undefined: only the shim is left. */
  readonly dir: string | undefined;
  /** Undefined: it is native. */
  readonly shimDir: string | undefined;
  readonly facts: ShimFacts | undefined;
}

/** Every plugin that is not part of OpenClaw itself. */
export async function candidates(gateway: GatewayCommand, stateDir: string): Promise<Candidate[]> {
  const [plugins, { load }] = await Promise.all([gateway.plugins(), gateway.settings()]);
  return plugins
    .filter(({ origin }) => origin !== "bundled")
    .map((plugin) => candidate(plugin, stateDir, load?.paths ?? []))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function candidate({ id, version, rootDir, enabled }: GatewayPlugin, stateDir: string, paths: readonly string[]): Candidate {
  const shimDir = shimIn(paths, stateDir, id);
  const facts = shimDir === undefined ? undefined : readShim(shimDir);
  return {
    id,
    version,
    isEnabled: enabled,
    state: shimDir === undefined ? "native" : "sandboxed",
    dir: shimDir === undefined ? rootDir : facts?.native?.dir,
    shimDir,
    facts,
  };
}

/** Of the files of a plugin without its dependencies: a native update changes it. Undefined: the folder is gone. */
export function folderDigest(dir: string): string | undefined {
  const hash = createHash("sha256");
  try {
    for (const file of files(dir, ""))
      hash
        .update(`${file}\0`)
        .update(readFileSync(join(dir, file)))
        .update("\0");
  } catch {
    return undefined;
  }
  return `sha256-${hash.digest("base64")}`;
}

function files(dir: string, under: string): string[] {
  return readdirSync(join(dir, under), { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = under === "" ? entry.name : `${under}/${entry.name}`;
      if (entry.isDirectory()) return entry.name === "node_modules" || entry.name === ".git" ? [] : files(dir, path);
      return entry.isFile() ? [path] : [];
    });
}
