/** Why a run came to what it did, in a sentence, and what an operator can do about it. */
import type { AuditCall, AuditRun } from "../../protocol/audit-line.ts";
import { CATALOG } from "../../protocol/catalog.ts";
import type { HookTable } from "../../protocol/catalog.ts";
import { ERRORS } from "../../protocol/errors.ts";

const DONE = new Map(Object.entries({ block: "blocked", cancel: "cancelled", abort: "aborted", handled: "taken over" }));

export function whyOf(run: AuditRun): string {
  const { hook, decision, by, approval, failure, calls } = run;
  const done = DONE.get(decision) ?? decision;
  const failed = calls.filter(({ error }) => error);
  const decider = failed.find(({ plugin }) => plugin === by);
  if (approval && decision !== "pass")
    return `${approval.pluginId} asked for an approval, which ended as "${approval.resolution}": it was ${done}.`;
  if (by !== undefined && decider)
    return `${by} ${FAILED[decider.status] ?? "failed"}, and ${hook} fails ${failure}: what cannot be judged is ${done}.`;
  if (by !== undefined) {
    const { terminal } = (CATALOG as HookTable)[hook] ?? {};
    const what = terminal ? ` ${terminal.field}: ${JSON.stringify(terminal.equals ?? true)}` : " so";
    return `${by} returned${what}; it was ${done}.`;
  }
  const went = failure === "closed" ? "" : `, and ${hook} fails ${failure}`;
  if (failed.length > 0)
    return `It went on: ${failed.map(({ plugin, status }) => `${plugin} ${FAILED[status] ?? "failed"}`).join(", ")}${went}.`;
  return approval ? `${approval.pluginId} asked for an approval, which ended as "${approval.resolution}": it went on.` : "It went on.";
}

const FAILED: Readonly<Record<string, string>> = {
  failed: "failed",
  timeout: "did not answer in time",
  cpu: "used up its CPU time",
  memory: "used up its memory",
  crashed: "was in a sandbox that died",
  quarantined: "is in quarantine",
  recursion: "was not called, since it is its own doing",
};

export interface Advice {
  readonly text: string;
  /** What to type for it; null: it is done elsewhere. */
  readonly command: string | null;
}

/** The most helpful first. `tell` writes a command line of Creel's. */
export function adviceOf(run: AuditRun, tell: (...words: string[]) => string): Advice[] {
  const { by, approval, calls, hook, decision, failure } = run;
  const failed = calls.filter(({ error }) => error);
  const advice = failed.slice(0, 3).flatMap((call) => ofCall(call, hook, tell));
  const decider = failed.find(({ plugin }) => plugin === by);
  if (decider && failure === "closed")
    advice.push(
      { text: `if ${hook} may go on when ${decider.plugin} fails: set hooks.failure.${hook} to "open" in the creel.json`, command: null },
      { text: "to do without it:", command: tell("disable", decider.plugin) },
    );
  if (approval && decision !== "pass" && !decider)
    advice.push({ text: APPROVAL[approval.resolution] ?? "ask again, and answer in time", command: null });
  else if (by !== undefined && !decider)
    advice.push(
      {
        text: `that is what ${by} is there for; if it is wrong, see plugins.entries.${by}.config of the creel.json, or tell its author`,
        command: null,
      },
      { text: "to do without it:", command: tell("disable", by) },
    );
  return advice;
}

function ofCall({ plugin, status, budget, error }: AuditCall, hook: string, tell: (...words: string[]) => string): Advice[] {
  const path = `plugins.entries.${plugin}.hooks.budgets.${hook}`;
  switch (status) {
    case "timeout":
      return told(`if ${plugin} needs longer: raise ${path}.timeoutMs, now ${budget.wallMs.value} (${budget.wallMs.origin})`);
    case "cpu":
      return told(`if ${plugin} needs more: raise ${path}.cpuMs, now ${budget.cpuMs.value} (${budget.cpuMs.origin})`);
    case "memory":
      return told(`if ${plugin} needs more: raise plugins.entries.${plugin}.limits.heapMb`);
    case "quarantined":
      // Of a host that is served; others have host.release.
      return [{ text: `${plugin} is called again with new code, or after:`, command: `creel release ${plugin}` }];
    default: {
      const known = Object.hasOwn(ERRORS, error?.code ?? "") ? ERRORS[error!.code as keyof typeof ERRORS] : undefined;
      const advice = known ? told(`${plugin}: ${known.fix}`) : [];
      // SECURITY: what a plugin threw is its own text, so no permission is named from it: it would be the plugin's advice. test/cli/explain.test.ts
      return status === "failed"
        ? [...advice, { text: "what it may do, and what it asked for in vain:", command: tell("permissions", "show", plugin) }]
        : advice;
    }
  }
}

function told(text: string): Advice[] {
  return [{ text, command: null }];
}

const APPROVAL: Readonly<Record<string, string>> = {
  deny: "somebody said no; ask them",
  timeout: "nobody answered in time: answer sooner, or let the plugin wait longer (its timeoutMs)",
  cancelled: "there was nobody to ask: give openHost a gateway.requestApproval, or see the log for why it failed",
};
