/** Small disks for tests that fill one: root on Linux can mount them. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const hasTmpfs: boolean = process.platform === "linux" && process.getuid?.() === 0 && canMount();

function canMount(): boolean {
  const disk = mkdtempSync(join(tmpdir(), "creel-mount-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], { stdio: "ignore" });
    execFileSync("umount", [disk]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(disk, { recursive: true });
  }
}
