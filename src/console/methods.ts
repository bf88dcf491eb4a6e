/**
 * Trusted side: what a page may request, by method. The scope of each method is here, the scopes of a token are with the token
 * (sessions.ts): a client declares neither. Parameters are checked by their schema before.
 */
import * as z from "zod";
import { APPROVAL_DECISIONS } from "../protocol/hooks/tool.ts";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { ConsoleHost } from "./console-host.ts";
import type { ConsoleTools } from "./console-tools.ts";
import { explained, growthOf, profileOf } from "./explained-run.ts";
import type { Feed } from "./feed.ts";
import type { Scope } from "./sessions.ts";

export interface MethodContext {
  readonly host: ConsoleHost;
  readonly feed: Feed;
  readonly tools: ConsoleTools | undefined;
  /** Who acts, for the ledger. */
  readonly by: string;
}

interface Method<S extends z.ZodType = z.ZodType> {
  readonly scope: Extract<Scope, "read" | "act">;
  readonly params: S;
  readonly run: (context: MethodContext, params: z.infer<S>) => unknown;
}

const name = z.string().min(1).max(LIMITS.call.nameChars);
const nothing = z.strictObject({});
const ofPlugin = z.strictObject({ plugin: name });

const ofRun = z.strictObject({ runId: name });
const ofPermission = z.strictObject({ plugin: name, key: z.string().min(1).max(LIMITS.fetch.urlChars) });

function toolsOf({ tools }: MethodContext): ConsoleTools {
  if (!tools) throw new CreelError("ERR_CONSOLE_TOOLS");
  return tools;
}

function method<S extends z.ZodType>(scope: Method["scope"], params: S, run: Method<S>["run"]): Method {
  return { scope, params, run: run as Method["run"] };
}

export const METHODS: ReadonlyMap<string, Method> = new Map(
  Object.entries({
    run: method("read", ofRun, async ({ host, tools }, { runId }) => {
      const detail = await host.runDetail(runId);
      if (!detail) return null;
      const stateDir = host.stateDir ?? tools?.stateDir;
      const [profile, memory] = await Promise.all([profileOf(stateDir, detail), growthOf(stateDir, detail)]);
      return { ...explained(detail, host.plugins()), profile, memory };
    }),
    // It runs the plugin again, so to look is not enough. A page asks when it shows a run that ran out of CPU time or memory.
    blame: method("act", ofRun, async (context, { runId }) => {
      const tools = toolsOf(context);
      const detail = await context.host.runDetail(runId);
      return detail ? tools.blame(detail) : { unknown: "the host no longer has this run" };
    }),
    samples: method("read", nothing, ({ feed }) => feed.samples),
    approvals: method("read", nothing, async ({ host }) => ({
      pending: await host.pendingApprovals(),
      always: host.approvals(),
      ledger: await host.approvalLedger({ limit: LIMITS.console.ledger }),
    })),
    answer: method(
      "act",
      z.strictObject({ id: z.string().max(64), digest: z.string().max(128), decision: z.enum(APPROVAL_DECISIONS) }),
      ({ host, by }, reply) => host.answerApproval({ ...reply, by }, "console"),
    ),
    revoke: method(
      "act",
      z.strictObject({
        pluginId: name,
        toolName: z.string(),
        agentId: z.string().optional(),
        title: z.string().optional(),
        scope: z.string().optional(),
        matcher: z.array(z.string()).optional(),
      }),
      ({ host }, approval) => host.revokeApproval(approval as Parameters<ConsoleHost["revokeApproval"]>[0]),
    ),
    disable: method("act", ofPlugin, ({ host }, { plugin }) => host.disable(plugin)),
    // A plugin that was disabled comes back when its current version is loaded.
    enable: method("act", ofPlugin, ({ host }, { plugin }) => host.reload(plugin)),
    reload: method("act", ofPlugin, ({ host }, { plugin }) => host.reload(plugin)),
    recorded: method("read", ofRun, async ({ tools }, { runId }) => (await tools?.recorded(runId)) ?? null),
    rerun: method(
      "act",
      z.strictObject({ runId: name, event: z.record(z.string(), z.unknown()).optional() }),
      (context, { runId, event }) => toolsOf(context).rerun(runId, event),
    ),
    bisect: method("act", ofRun, (context, { runId }) => toolsOf(context).bisect(runId)),
    whatIf: method("act", z.strictObject({ plugin: name, withoutPermission: z.string().optional() }), async (context, params) => {
      const report = await toolsOf(context).whatIf(params.plugin, params.withoutPermission);
      return { ...report, differences: report.differences.slice(0, LIMITS.console.differences) };
    }),
    refused: method("read", ofPlugin, async ({ tools }, { plugin }) => (await tools?.refused(plugin)) ?? null),
    grantPermission: method("act", ofPermission, (context, { plugin, key }) => toolsOf(context).changePermission("grant", plugin, key)),
    revokePermission: method("act", ofPermission, (context, { plugin, key }) => toolsOf(context).changePermission("revoke", plugin, key)),
    reviewUpdate: method("act", ofPlugin, (context, { plugin }) => toolsOf(context).reviewUpdate(plugin)),
    release: method("act", ofPlugin, ({ host }, { plugin }) => host.release(plugin)),
  }),
);
