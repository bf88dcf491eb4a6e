/**
 * `creel init --from-openclaw`: an OpenClaw plugin as a plugin of Creel's, with a manifest that declares what it needs.
 * Its code stays as it is, and so does what its own manifest says. What it registers is found by loading it in a sandbox without
 * grants. What it needs is what `creel permissions suggest` knows of it, if it has run in Creel, or else what its code shows; the author
 * gives the reasons.
 */
import { cp } from "node:fs/promises";
import { basename, relative, resolve } from "node:path";
import { findPlugin } from "../../discovery/manifest.ts";
import { examine } from "../check/examine.ts";
import type { Findings } from "../check/examine.ts";
import { WHY } from "../check/page.ts";
import { UsageError } from "../options.ts";
import { json } from "./scaffold.ts";
import { grantOf } from "../../protocol/config/permission-key.ts";
import type { UsageReport } from "../plugins/narrowest-grants.ts";
import { writeNew } from "./write.ts";

/** Packages and history stay where they are. */
const LEFT_OUT = new Set(["node_modules", ".git"]);

export interface Taken {
  readonly id: string;
  readonly hooks: readonly string[];
  /** Keys of the permissions that its manifest requests now. */
  readonly permissions: readonly string[];
  /** Where they are from: what the audit log has of it, or what its code shows. */
  readonly from: "use" | "code";
  readonly remarks: readonly string[];
  readonly file: string;
}

/**
 * `target`: the folder to write to. The same folder: only the manifest is added. `usageOf`: what the plugin has used where it was
 * installed; undefined: that is not known.
 */
export async function takeOver(
  source: string,
  target: string,
  usageOf: (id: string) => Promise<UsageReport | undefined> = async () => undefined,
): Promise<Taken> {
  const { root, entry, manifest } = await findPlugin(source);
  const findings = await examine(source, "none");
  const [problem] = findings.problems;
  if (problem) throw new UsageError(`the plugin does not run in Creel: ${problem.message}`, problem.fix ?? 'see "creel check"');
  const used = await usageOf(manifest.id);
  const requested = (used ? keysUsed(used) : [...findings.permissions, ...findings.unrequested]).filter(isRequestable);
  const hooks = [...new Set(findings.hooks.map(({ hook }) => hook))];
  const isSame = resolve(target) === resolve(root);
  if (!isSame)
    await cp(root, target, {
      recursive: true,
      errorOnExist: true,
      force: false,
      filter: (path) => path === root || !LEFT_OUT.has(basename(path)),
    });
  const declared = {
    $schema: "./node_modules/creel/docs/reference/creel.plugin.schema.json",
    ...manifest,
    name: manifest.name ?? manifest.id,
    main: relative(root, entry),
    hooks,
    ...(requested.length > 0 && { permissions: Object.fromEntries(requested.map(({ key }) => [key, WHY])) }),
  };
  await writeNew(target, { "creel.plugin.json": json(declared) });
  return {
    id: manifest.id,
    hooks,
    permissions: requested.map(({ key }) => key),
    from: used ? "use" : "code",
    remarks: findings.remarks,
    file: `${target}/creel.plugin.json`,
  };
}

type Wanted = Pick<Findings["unrequested"][number], "key" | "grant">;

/** All but what was granted and never used. */
function keysUsed({ suggestions }: UsageReport): Wanted[] {
  return suggestions.flatMap(({ sign, key }) => {
    const grant = sign === "-" ? undefined : grantOf(key);
    return grant ? [{ key, grant }] : [];
  });
}

/** Hooks that change prompts need no request, and whether it is required is a field of its own. */
function isRequestable({ grant }: Wanted): boolean {
  return !("prompt" in grant || "required" in grant);
}
