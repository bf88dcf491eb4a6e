/** Bundler child process: merges the scans of a bundle's modules. Omits modules that are not in the bundle. */
import { SCAN_LIMITS, SEVERITIES } from "../messages.ts";
import type { BundleScan } from "../messages.ts";
import { scanModule } from "./scan.ts";
import type { ModuleScan } from "./scan.ts";

export class Scans {
  readonly #modules = new Map<string, ModuleScan & { readonly file: string }>();

  /** `file` is the name that people know it by. */
  add(id: string, file: string, code: string): void {
    const named = file.slice(-SCAN_LIMITS.fileChars);
    this.#modules.set(id, { ...scanModule(named, code), file: named });
  }

  /** `ids` are the modules in the bundle. */
  of(ids: readonly string[]): BundleScan {
    const scans = ids.flatMap((id) => this.#modules.get(id) ?? []).toSorted((a, b) => order(a.file, b.file));
    const origins = new Map<string, BundleScan["origins"][number]>();
    for (const { file, origins: found } of scans)
      for (const { origin, line } of found) if (!origins.has(origin)) origins.set(origin, { origin: origin.slice(0, 300), file, line });
    const names = (key: "env" | "uses") => [...new Set(scans.flatMap((scan) => scan[key]))].toSorted();
    return {
      files: scans.length,
      origins: [...origins.values()].slice(0, SCAN_LIMITS.origins),
      env: names("env")
        .filter((name) => name.length <= 128)
        .slice(0, SCAN_LIMITS.env),
      uses: names("uses").slice(0, SCAN_LIMITS.uses),
      findings: scans
        .flatMap(({ findings }) => findings)
        .toSorted((a, b) => SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity))
        .slice(0, SCAN_LIMITS.findings),
    };
  }
}

function order(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
