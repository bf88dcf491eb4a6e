/**
 * Trusted side: writes and checks the shim of a moved plugin, a folder that OpenClaw loads instead of the plugin. The shim has the
 * plugin's id, configuration schema and contracts, and no dependencies: OpenClaw copies and parses those at every start. It loads Creel
 * by a path that is data. If anything fails, it registers closed stand-ins for the plugin's gates, and for all hooks of a required plugin,
 * because OpenClaw lets calls pass when a plugin does not load.
 */
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { shimGatesOf } from "./closed-hook.ts";
import { commandLinesOf, shimFacts } from "./shim-facts.ts";
import type { ShimFacts } from "./shim-facts.ts";

const DIGEST_CHARS = 12;
const MANIFEST = "openclaw.plugin.json";
/** Of the shim. Not in one piece: the build replaces that expression by the address of this module, in texts, too. */
const OWN_URL = ["import", "meta", "url"].join(".");
const RETIRED_MS = 86_400_000;

/** What the shim takes over from the plugin's own `openclaw.plugin.json`. */
export interface NativeManifest {
  readonly name?: string;
  readonly description?: string;
  readonly configSchema?: unknown;
  readonly uiHints?: unknown;
  readonly contracts?: unknown;
  readonly cliCommands?: unknown;
}

/** Where the shims of a plugin are. Each has its own folder, named after its content, so that OpenClaw loads a new one at once. */
function shimRoot(stateDir: string, id: string): string {
  return join(stateDir, "openclaw", id.replaceAll("/", "__"));
}

export function shimFolder(stateDir: string, id: string, files: Readonly<Record<string, string>>): string {
  const digest = createHash("sha256").update(JSON.stringify(files)).digest("hex");
  return join(shimRoot(stateDir, id), digest.slice(0, DIGEST_CHARS));
}

/** The shim of a plugin among the paths that OpenClaw loads; undefined: it is native. */
export function shimIn(paths: readonly string[], stateDir: string, id: string): string | undefined {
  return paths.find((path) => dirname(path) === shimRoot(stateDir, id));
}

/** By file name. */
export function shimFilesOf(facts: ShimFacts, manifest: NativeManifest): Record<string, string> {
  const { id, name, pluginVersion = "0.0.0" } = facts;
  const { description, configSchema, uiHints, contracts, cliCommands } = manifest;
  const commandLines = cliCommands ?? commandLinesOf(facts);
  return {
    "package.json": json({
      name: `creel-shim-${id.replaceAll(/[^A-Za-z0-9._-]/g, "-").toLowerCase()}`,
      version: pluginVersion,
      private: true,
      type: "module",
      openclaw: { extensions: ["./index.mjs"] },
    }),
    [MANIFEST]: json({
      id,
      name,
      version: pluginVersion,
      ...(description !== undefined && { description }),
      activation: { onStartup: true },
      configSchema: configSchema ?? { type: "object", additionalProperties: true },
      ...(uiHints !== undefined && { uiHints }),
      contracts: contractsOf(contracts, facts),
      // OpenClaw does not load a plugin for a command that it does not know.
      ...(Array.isArray(commandLines) && commandLines.length > 0 && { cliCommands: commandLines }),
    }),
    "shim.json": json(facts),
    "index.mjs": entryOf(facts),
  };
}

/** Writes the folder beside its place and moves it there, so that OpenClaw never sees half a shim. */
export function writeShim(dir: string, files: Readonly<Record<string, string>>): void {
  const fresh = `${dir}.new`;
  const old = `${dir}.old`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true, mode: 0o755 });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(fresh, name), text);
  rmSync(old, { recursive: true, force: true });
  if (existsSync(dir)) renameSync(dir, old);
  renameSync(fresh, dir);
  rmSync(old, { recursive: true, force: true });
}

/** Removes shims of a plugin that have not been in use for a while. A gateway that reloads still looks at the one before. */
export function pruneShims(stateDir: string, id: string, keep: string): void {
  const root = shimRoot(stateDir, id);
  for (const name of readdirSync(root)) {
    const dir = join(root, name);
    if (dir !== keep && statSync(dir).mtimeMs < Date.now() - RETIRED_MS) rmSync(dir, { recursive: true, force: true });
  }
}

/**
 * Before OpenClaw is told not to load it any more. OpenClaw 2026.9.6 has an index of the plugins that it found, and when its configuration names
 * no path at all, it believes the index while the manifests in it are what they were: it would load the shim again, over a restart, too.
 */
export function retireShim(dir: string): void {
  const manifest = join(dir, MANIFEST);
  if (existsSync(manifest)) appendFileSync(manifest, "\n");
}

/** Why the folder is not what Creel would write; undefined: it is. */
export function checkShim(dir: string, expected: Readonly<Record<string, string>>): string | undefined {
  for (const [name, text] of Object.entries(expected)) {
    const found = read(join(dir, name));
    if (found === undefined) return `${name} is missing`;
    // A shim that was to be retired has a line more.
    if (found.trimEnd() !== text.trimEnd()) return `${name} was changed`;
  }
  return undefined;
}

/** Undefined: there is no shim, or its facts are not Creel's. */
export function readShim(dir: string): ShimFacts | undefined {
  const text = read(join(dir, "shim.json"));
  if (text === undefined) return undefined;
  try {
    return shimFacts.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** OpenClaw refuses a tool that the manifest does not name. */
function contractsOf(contracts: unknown, { functions }: ShimFacts): object {
  const tools = functions.flatMap(({ kind, name }) => (kind === "tool" ? [name] : []));
  const given = Object(contracts) as { tools?: unknown };
  return { ...given, ...(tools.length > 0 && given.tools === undefined && { tools }) };
}

/** Plain JavaScript without imports but Node's. Its gates are written into it: they must hold when every other file is gone. */
function entryOf({ id, name, hooks }: ShimFacts): string {
  return `// Written by Creel. "${id}" runs in Creel's sandbox; this file connects it to OpenClaw. Do not edit: "creel openclaw status" compares it.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const GATES = ${JSON.stringify(shimGatesOf(hooks))};

// Read once, now: OpenClaw runs a copy of this folder, which may be gone when it registers the plugin again.
let facts;
let problem;
try {
  facts = JSON.parse(readFileSync(new URL("./shim.json", ${OWN_URL}), "utf8"));
} catch (error) {
  problem = error;
}

export default {
  id: ${JSON.stringify(id)},
  name: ${JSON.stringify(name)},
  register(api) {
    try {
      if (problem) throw problem;
      createRequire(facts.bridge)(facts.bridge).shim(facts, api, () => import("openclaw/plugin-sdk/gateway-runtime"));
    } catch (error) {
      const why = "creel: the sandbox of ${id} cannot be reached, its gates stay shut: " + (error && error.message);
      api.logger.error(why);
      for (const gate of GATES) api.on(gate.hook, (event) => shut(gate, event, why), { priority: gate.priority });
    }
  },
};

// A handler that throws blocks some hooks; OpenClaw stops at the others only for an answer.
function shut({ answer, reason, keeps }, event, why) {
  if (keeps) {
    const filed = Object.fromEntries(keeps.flatMap((name) => (event.message?.[name] === undefined ? [] : [[name, event.message[name]]])));
    return { message: { ...filed, content: [{ type: "text", text: why }] } };
  }
  if (!answer) throw new Error(why);
  return reason === undefined ? answer : { ...answer, [reason]: why };
}
`;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
