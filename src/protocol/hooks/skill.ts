/** Hooks around skills that an agent proposes, and around those it has. */
import * as z from "zod";
import { defineHook } from "./define.ts";
import { amount, bag, text, timestamp } from "./fields.ts";

const context = z.looseObject({ workspaceDir: z.string(), agentId: text });

/** Old gateways number revisions, new ones name them. */
const revision = z.union([z.string(), z.number()]);

const proposalRef = { id: z.string(), revision, revisionSha256: z.string() };

const file = z.looseObject({
  path: z.string(),
  content: z.string(),
  encoding: z.enum(["utf8", "base64"]),
  sha256: z.string(),
  sizeBytes: z.number(),
});
const snapshot = z.looseObject({ skillMd: file, files: z.array(file), treeSha256: z.string() });

const artifact = z
  .looseObject({ name: z.string(), skillKey: z.string(), description: text, skillFile: text, skillDir: text, source: text })
  .optional();

export const skillHooks = [
  defineHook({
    name: "skill_proposal_evaluate",
    kind: "evaluate",
    summary: "A skill is proposed: every evaluator gives its own findings and decision, side by side; the gateway weighs them.",
    ifItFails: { open: "its evaluation is missing", closed: "the proposal is blocked" },
    event: z.looseObject({
      correlationId: text,
      proposal: z.looseObject({ ...proposalRef, kind: z.enum(["create", "update"]), targetCurrentSha256: text }),
      skill: z.looseObject({ name: z.string(), skillKey: z.string(), description: z.string(), source: text }),
      candidate: snapshot,
      baseline: snapshot.optional(),
      reason: z.enum(["created", "revised", "manual", "apply"]),
    }),
    context,
    result: z.object({
      summary: text,
      findings: z
        .array(
          z.object({
            ruleId: z.string(),
            severity: z.enum(["info", "warn", "critical"]),
            message: z.string(),
            file: text,
            line: amount,
          }),
        )
        .optional(),
      metrics: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
      evaluatorVersion: text,
      mode: text,
      decision: z.enum(["pass", "revise", "block"]).optional(),
      decisionReason: text,
    }),
    // An evaluator may call a model.
    budget: { wallMs: 120_000 },
    since: "2026.9",
  }),

  defineHook({
    name: "skill_proposal_changed",
    kind: "observe",
    summary: "A skill's proposal moved on: created, revised, evaluated, applied, rejected.",
    event: z.looseObject({
      eventId: z.string(),
      sequence: z.number(),
      action: z.enum(["created", "revised", "evaluation_completed", "applied", "rejected", "quarantined", "stale"]),
      occurredAt: timestamp,
      correlationId: text,
      proposal: z.looseObject({ ...proposalRef, kind: z.enum(["create", "update"]), status: text, skillName: text, skillKey: text }),
      evaluations: z.array(bag).optional(),
    }),
    context,
    result: z.undefined(),
    since: "2026.9",
  }),

  defineHook({
    name: "skill_changed",
    kind: "observe",
    summary: "A live skill was created, updated or removed.",
    event: z.looseObject({
      action: z.enum(["created", "updated", "removed"]),
      source: z.string(),
      occurredAt: timestamp,
      before: artifact,
      after: artifact,
      proposal: z.looseObject(proposalRef).optional(),
    }),
    context,
    result: z.undefined(),
    since: "2026.9",
  }),
] as const;
