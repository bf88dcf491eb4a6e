/** Stands before every install: blocks what the scan calls critical, and remarks on what it did not look at. */
import { definePlugin } from "creel/plugin";
import type { HookEvent } from "creel/plugin";

type Install = HookEvent<"before_install">;
type Finding = Install["builtinScan"]["findings"][number];

export default definePlugin({
  id: "install-guard",
  name: "Install Guard",
  register(api) {
    // Before guards of the default priority: a block ends the run, and the operator wants the scan's reason first.
    api.on(
      "before_install",
      (event) => {
        const findings = remarks(event);
        const critical = event.builtinScan.findings.filter(({ severity }) => severity === "critical");
        // The count and the list can differ: a scanner cuts long lists short.
        if (critical.length === 0 && event.builtinScan.critical === 0) return { findings };
        const [first] = critical;
        const where = first ? `: ${first.message} (${first.file}:${first.line})` : "";
        const count = Math.max(critical.length, event.builtinScan.critical);
        return { findings, block: true, blockReason: `${event.targetName} has ${count} critical finding${count === 1 ? "" : "s"}${where}` };
      },
      { priority: 100 },
    );
  },
});

function remarks({ builtinScan, request }: Install): Finding[] {
  const found: Finding[] = [];
  const remark = (ruleId: string, message: string): void =>
    void found.push({ ruleId, severity: "warn", file: "package.json", line: 1, message });
  if (builtinScan.status !== "ok")
    remark("install-guard/not-scanned", `the scan did not finish: ${builtinScan.error ?? "no reason given"}`);
  const { requestedSpecifier: specifier } = request;
  if (specifier !== undefined && request.kind.includes("npm") && !/@\d+\.\d+\.\d+[\w.+-]*$/.test(specifier))
    remark("install-guard/not-pinned", `"${specifier}" is not an exact version: what is installed next time may be something else`);
  return found;
}
