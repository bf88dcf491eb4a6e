/** Why a run ended as it did, in one sentence, and what an operator can do about it. */
import type { AuditCall, AuditRun } from "../protocol/audit-line.ts";
import { CATALOG } from "../protocol/catalog.ts";
import type { HookTable } from "../protocol/catalog.ts";
import { ERRORS } from "../protocol/errors.ts";
import { disableKey, permissionsKey } from "./plugin-keys.ts";

const DONE = new Map(Object.entries({ block: "blocked", cancel: "cancelled", abort: "aborted", handled: "taken over" }));

/** What advice needs to know of a call, and of a run: a line of the audit log has it, and so has a live run. */
type AdvisedCall = Pick<AuditCall, "plugin" | "status" | "budget"> & { readonly error?: AuditCall["error"] | undefined };
type AdvisedRun = Pick<AuditRun, "hook" | "decision" | "failure"> & {
  readonly by?: string | undefined;
  readonly approval?: AuditRun["approval"] | undefined;
  readonly calls: readonly AdvisedCall[];
};

export function whyOf(run: AdvisedRun): string {
  const { hook, decision, by, approval, failure, calls } = run;
  const done = DONE.get(decision) ?? decision;
  const failed = calls.filter(({ error }) => error);
  const decider = failed.find(({ plugin }) => plugin === by);
  if (approval && decision !== "pass")
    return `${askers(approval)} asked for approval. The answer was "${approval.resolution}", so it was ${done}.`;
  if (by !== undefined && decider) return `${by} ${FAILED[decider.status] ?? "failed"}, and ${hook} fails ${failure}, so it was ${done}.`;
  if (by !== undefined) {
    const { terminal } = (CATALOG as HookTable)[hook] ?? {};
    const what = terminal ? ` ${terminal.field}: ${JSON.stringify(terminal.equals ?? true)}` : " so";
    return `${by} returned${what}; it was ${done}.`;
  }
  const went = failure === "closed" ? "" : `, and ${hook} fails ${failure}`;
  if (failed.length > 0)
    return `It went on: ${failed.map(({ plugin, status }) => `${plugin} ${FAILED[status] ?? "failed"}`).join(", ")}${went}.`;
  return approval ? `${askers(approval)} asked for approval. The answer was "${approval.resolution}", so it went on.` : "It went on.";
}

/** All plugins that asked, or the one that an older version names. */
function askers({ pluginId, requests = [] }: NonNullable<AuditRun["approval"]>): string {
  return [...new Set(requests.map((request) => request.pluginId))].join(" and ") || pluginId;
}

const FAILED: Readonly<Record<string, string>> = {
  failed: "failed",
  timeout: "did not answer in time",
  cpu: "used up its CPU time",
  memory: "used up its memory",
  crashed: "was lost with its sandbox process",
  quarantined: "is in quarantine",
  recursion: "was not called, because it caused the event itself",
};

export interface Advice {
  readonly text: string;
  /** The command to type; null: there is no command for it. */
  readonly command: string | null;
}

/** What is known beside the run. */
export interface Adviser {
  /** Writes a command line of Creel's. */
  tell(this: void, ...words: string[]): string;
  /** Commands change what was installed, and nothing else. */
  isInstalled(this: void, plugin: string): boolean;
}

/** The most helpful first. */
export function adviceOf(run: AdvisedRun, adviser: Adviser): Advice[] {
  const { by, approval, calls, hook, decision, failure } = run;
  const failed = calls.filter(({ error }) => error);
  const advice = failed.slice(0, 3).flatMap((call) => ofCall(call, hook, adviser));
  const decider = failed.find(({ plugin }) => plugin === by);
  if (decider && failure === "closed")
    advice.push(
      { text: `to let ${hook} go on when ${decider.plugin} fails, set hooks.failure.${hook} to "open" in creel.json`, command: null },
      toDisable(decider.plugin, adviser),
    );
  if (approval && decision !== "pass" && !decider)
    advice.push({ text: APPROVAL[approval.resolution] ?? "try again, and answer in time", command: null });
  else if (by !== undefined && !decider)
    advice.push(
      {
        text: `${by} decided this on purpose; if it is wrong, check plugins.entries.${by}.config in creel.json or tell its author`,
        command: null,
      },
      toDisable(by, adviser),
    );
  return advice;
}

function toDisable(plugin: string, { tell, isInstalled }: Adviser): Advice {
  return isInstalled(plugin)
    ? { text: "to disable the plugin:", command: tell("disable", plugin) }
    : { text: `to disable the plugin, set ${disableKey(plugin)} to false in creel.json and restart the gateway`, command: null };
}

function ofCall({ plugin, status, budget, error }: AdvisedCall, hook: string, { tell, isInstalled }: Adviser): Advice[] {
  const path = `plugins.entries.${plugin}.hooks.budgets.${hook}`;
  switch (status) {
    case "timeout":
      return told(`if ${plugin} needs more time, raise ${path}.timeoutMs, now ${budget.wallMs.value} (${budget.wallMs.origin})`);
    case "cpu":
      return told(`if ${plugin} needs more CPU time, raise ${path}.cpuMs, now ${budget.cpuMs.value} (${budget.cpuMs.origin})`);
    case "memory":
      return told(`if ${plugin} needs more memory, raise plugins.entries.${plugin}.limits.heapMb`);
    case "quarantined":
      // Of a host that is served; others have host.release.
      return [{ text: `${plugin} is called again once its code changes, or after:`, command: `creel release ${plugin}` }];
    default: {
      const known = Object.hasOwn(ERRORS, error?.code ?? "") ? ERRORS[error!.code as keyof typeof ERRORS] : undefined;
      // A refused request has no line: the plugin's code is not what is wrong.
      const isPlaceless = error?.code === "ERR_CALL_FAILED" && error.at === undefined;
      const advice = known && !isPlaceless ? told(`${plugin}: ${known.fix}`) : [];
      // SECURITY: a plugin chooses the text it throws, so no permission is proposed from it.
      // test/cli/verbs/host/explain.test.ts
      if (status !== "failed") return advice;
      const shown = isInstalled(plugin)
        ? { text: "to see its permissions, and which requested ones were refused:", command: tell("permissions", "show", plugin) }
        : {
            text: `its permissions are ${permissionsKey(plugin)} in creel.json; to see them where it runs:`,
            command: tell("inspect", plugin),
          };
      return [...advice, shown];
    }
  }
}

function told(text: string): Advice[] {
  return [{ text, command: null }];
}

const APPROVAL: Readonly<Record<string, string>> = {
  deny: "the user denied it",
  timeout: "no user answered in time: answer sooner, or raise the plugin's timeoutMs",
  cancelled:
    "no user could be asked: pass gateway.requestApproval to openHost, set approvals.plugin.answerable and use creel approvals, or see the log for why it failed",
};
