/**
 * The source that `creel install <source>` names: a package of the registry, a tarball, a folder, or a git repository.
 */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { CreelError } from "../../protocol/errors.ts";

export type Source =
  /** As npm takes it: a name, with a version, range or tag, or the address of a tarball. */
  | { readonly kind: "npm"; readonly spec: string }
  | { readonly kind: "tarball"; readonly path: string }
  | { readonly kind: "folder"; readonly path: string }
  /** As git takes it; `ref` is a branch, tag or commit. */
  | { readonly kind: "git"; readonly url: string; readonly ref: string | undefined };

const NAME = /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*(?:@[^\s/\\-][^\s/\\]*)?$/i;
const PATH = /^(?:\.{0,2}[/\\]|[a-z]:[/\\]|~[/\\]|\.{1,2}$)/i;
const SHORTHAND = /^(?:github|gitlab|bitbucket):(?<path>[\w.-]+\/[\w.-]+)$/;
const FORGES = { github: "https://github.com", gitlab: "https://gitlab.com", bitbucket: "https://bitbucket.org" } as const;

/** `npm:`, `git:` and `file:` name the kind; without a prefix, a text that looks like a path is one. */
export async function parseSource(text: string): Promise<Source> {
  const [, scheme, rest] = /^(npm|file|git):(?!\/\/)(.*)$/s.exec(text) ?? [];
  if (scheme === "npm") return npm(text, rest!);
  if (scheme === "file") return local(text, rest!);
  if (scheme === "git") return git(text, rest!);
  if (/^git(?:\+[a-z]+)?:\/\//.test(text) || SHORTHAND.test(text.split("#")[0]!)) return git(text, text);
  if (/^https?:\/\//.test(text)) return /\.git(?:#.*)?$/.test(text) ? git(text, text) : { kind: "npm", spec: text };
  if (PATH.test(text) || /\.(?:tgz|tar\.gz|tar)$/.test(text)) return local(text, text);
  return npm(text, text);
}

function npm(text: string, spec: string): Source {
  if (!NAME.test(spec)) throw unclear(text, "it is not the name of a package");
  return { kind: "npm", spec };
}

async function local(text: string, path: string): Promise<Source> {
  const absolute = resolve(path);
  const stats = await stat(absolute).catch(() => undefined);
  if (!stats) throw unclear(text, "there is no such file or folder");
  if (!stats.isDirectory() && /\.[cm]?[jt]sx?$/.test(absolute))
    throw unclear(text, "it is a single file; put it into a folder with a creel.plugin.json, and install the folder");
  return { kind: stats.isDirectory() ? "folder" : "tarball", path: absolute };
}

function git(text: string, spec: string): Source {
  const [address = "", ref] = spec.replace(/^git\+/, "").split("#");
  const short = SHORTHAND.exec(address);
  const url = short ? `${FORGES[address.split(":")[0] as keyof typeof FORGES]}/${short.groups!.path!}.git` : address;
  // SECURITY: git runs commands for some addresses (`ext::`), and takes a leading dash for an option.
  // test/install/fetch/source.test.ts
  if (!/^(?:https?|ssh|git|file):\/\/[^\s-]|^[\w.-]+@[\w.-]+:/.test(url)) throw unclear(text, "it is not the address of a git repository");
  if (ref !== undefined && !/^(?!-)[\w./@^~-]+$/.test(ref)) throw unclear(text, `"${ref}" is not a branch, tag or commit`);
  return { kind: "git", url, ref };
}

function unclear(source: string, detail: string): CreelError {
  return new CreelError("ERR_INSTALL_SOURCE", { source, detail });
}
