/**
 * `creel init --from-openclaw`: an OpenClaw plugin as a plugin of Creel's, with a manifest that declares what it needs.
 * Its code stays as it is. What it registers is found by loading it in a sandbox without grants, and what it needs by
 * reading its code; the author gives the reasons.
 */
import { cp } from "node:fs/promises";
import { basename, relative, resolve } from "node:path";
import { findPlugin } from "../../discovery/manifest.ts";
import { examine } from "../check/examine.ts";
import type { Findings } from "../check/examine.ts";
import { requestOf } from "../check/page.ts";
import { UsageError } from "../options.ts";
import { json } from "./scaffold.ts";
import { writeNew } from "./write.ts";

/** Packages and history stay where they are. */
const LEFT_OUT = new Set(["node_modules", ".git"]);

export interface Taken {
  readonly id: string;
  readonly hooks: readonly string[];
  /** Keys of the permissions that its manifest requests now. */
  readonly permissions: readonly string[];
  readonly remarks: readonly string[];
  readonly file: string;
}

/** `target`: the folder to write to. The same folder: only the manifest is added. */
export async function takeOver(source: string, target: string): Promise<Taken> {
  const { root, entry, manifest } = await findPlugin(source);
  const findings = await examine(source, "none");
  const [problem] = findings.problems;
  if (problem) throw new UsageError(`the plugin does not run in Creel: ${problem.message}`, problem.fix ?? 'see "creel check"');
  const requested = [...findings.permissions, ...findings.unrequested];
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
    id: manifest.id,
    name: manifest.name ?? manifest.id,
    ...(manifest.version !== undefined && { version: manifest.version }),
    main: relative(root, entry),
    hooks,
    ...(requested.length > 0 && { permissions: permissionsOf(requested) }),
  };
  await writeNew(target, { "creel.plugin.json": json(declared) });
  return {
    id: manifest.id,
    hooks,
    permissions: requested.map(({ key }) => key),
    remarks: findings.remarks,
    file: `${target}/creel.plugin.json`,
  };
}

/** Requests of the same kind are one list. */
function permissionsOf(requested: Findings["unrequested"]): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  for (const { grant } of requested)
    for (const [kind, request] of Object.entries(requestOf(grant)))
      all[kind] = Array.isArray(request) ? [...((all[kind] as unknown[] | undefined) ?? []), ...(request as unknown[])] : request;
  return all;
}
