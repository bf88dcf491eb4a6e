/**
 * Trusted side: which dependency specs a package may have. npm follows a spec to git, ssh, any URL or a local folder,
 * so only specs that a registry resolves go to npm: ranges, tags and aliases. SECURITY:
 * test/install/fetch/dependency-spec.test.ts, test/install/fetch/npm-reach.test.ts
 */
import { oneLine } from "../../text/one-line.ts";
import { CreelError } from "../../protocol/errors.ts";

const NAME = /^(?:@[a-z0-9~][a-z0-9._~-]{0,213}\/)?[a-z0-9~_-][a-z0-9._~-]{0,213}$/i;
/** The characters of ranges and tags. Colon, slash and at sign would make addresses. */
const RANGE = /^[\w.*^~<>=|+ -]{0,256}$/;
/** npm takes these for files. */
const FILE = /^\.|\.(?:tgz|tar|tar\.gz)$/i;
const ALIAS = /^npm:((?:@[^/@]+\/)?[^/@]+)(?:@(.*))?$/s;
const VERSION = /^\d+\.\d+\.\d+[\w.+-]{0,128}$/;

export type Dependencies = Readonly<Record<string, string>>;

/** Is it something that only a registry is asked about? */
export function isRegistrySpec(spec: string): boolean {
  const [, target, range = ""] = ALIAS.exec(spec) ?? [];
  if (target !== undefined) return NAME.test(target) && isRange(range);
  return isRange(spec);
}

function isRange(text: string): boolean {
  return RANGE.test(text) && !FILE.test(text);
}

/** Throws ERR_INSTALL_SPEC, naming the first that is not. `owner` needs them. */
export function expectRegistrySpecs(owner: string, ...all: readonly (Dependencies | undefined)[]): void {
  for (const dependencies of all)
    for (const [name, spec] of Object.entries(dependencies ?? {}))
      if (!NAME.test(name) || !isRegistrySpec(spec))
        throw new CreelError("ERR_INSTALL_SPEC", { owner: oneLine(owner, 214), dependency: oneLine(name, 214), spec: oneLine(spec, 300) });
}

/** One version of one package, and nothing that npm could read otherwise: the registry, too, is not believed here. */
export function isExactPackage({ name, version }: { readonly name: string; readonly version: string }): boolean {
  return NAME.test(name) && VERSION.test(version);
}
