/**
 * Bundler child process: scans a finished bundle, which `creel pack` made elsewhere. A third party may have made it by
 * other means, so nothing that it says about itself counts: what it requires is read from its code.
 */
import { isBuiltin } from "node:module";
import { parseSync } from "rolldown/utils";
import { CreelError } from "../../protocol/errors.ts";
import { isNative } from "../../protocol/guest-surface/absent.ts";
import { STUB } from "../../protocol/guest-surface/stub.ts";
import { plainId, topRequires } from "../imports.ts";
import type { Builtin } from "../messages.ts";
import type { Built } from "./build.ts";
import { scanModule } from "./scan.ts";
import { Scans } from "./scans.ts";

const MAX_BUILTINS = 128;
const MAX_NAME = 128;

/** `name` ends with `.cjs`: the body of a CommonJS module, which need not be strict. */
export function scanBuilt(name: string, code: string): Built {
  const { errors } = parseSync(name, code, { preserveParens: false });
  // SECURITY: code that cannot be parsed cannot be scanned. test/install/pack/packed-plugin.test.ts
  const [fault] = errors;
  if (fault) throw new CreelError("ERR_PLUGIN_BUNDLE", { detail: `${fault.message} (${name})` });
  const scans = new Scans();
  scans.add(name, name, code);
  return { code: "", map: "", files: 1, builtins: builtinsOf(name, code), own: "", scan: scans.of([name]) };
}

function builtinsOf(file: string, code: string): Builtin[] {
  const top = topRequires(code);
  const found = new Map<string, Builtin>();
  for (const [id, line] of scanModule(file, code).requires) {
    // Parts of the guest's own library are no modules of Node's.
    if (!isBuiltin(id) && !isNative(id) && !id.startsWith(STUB)) continue;
    const name = plainId(id).replace(/^node:/, "");
    if (name.length > MAX_NAME || found.has(name) || found.size >= MAX_BUILTINS) continue;
    found.set(name, {
      name,
      importers: [file],
      needed: top.has(id) ? "require" : "late",
      ...(id.startsWith(STUB) && { isStub: true }),
      line,
    });
  }
  return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
