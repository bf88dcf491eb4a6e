/** The hook before anything is installed. */
import * as z from "zod";
import { sameAsEvent } from "./contexts.ts";
import { defineHook } from "./define.ts";
import { bag, flag, text } from "./fields.ts";

const targetType = z.enum(["skill", "plugin"]);

const finding = z.object({
  ruleId: z.string(),
  severity: z.enum(["info", "warn", "critical"]),
  file: z.string(),
  line: z.number(),
  message: z.string(),
});

export const installHooks = [
  defineHook({
    name: "before_install",
    kind: "gate",
    summary: "Before a skill or plugin is installed: add findings to the scan, or block the installation.",
    ifItFails: { open: "the installation goes on unchecked", closed: "the installation is blocked" },
    event: z.looseObject({
      targetType,
      targetName: z.string(),
      sourcePath: z.string(),
      sourcePathKind: z.enum(["file", "directory"]),
      origin: text,
      request: z.looseObject({ kind: z.string(), mode: z.enum(["install", "update"]), requestedSpecifier: text }),
      builtinScan: z.looseObject({
        status: z.enum(["ok", "error"]),
        scannedFiles: z.number(),
        critical: z.number(),
        warn: z.number(),
        info: z.number(),
        findings: z.array(finding),
        error: text,
      }),
      skill: bag.optional(),
      plugin: bag.optional(),
    }),
    context: z.looseObject({ targetType, requestKind: z.string(), origin: text }),
    contextFrom: { requestKind: "request.kind", ...sameAsEvent("targetType", "origin") },
    result: z.object({ findings: z.array(finding).optional(), block: flag, blockReason: text }),
    merge: { findings: { rule: "append" }, block: { rule: "any" }, blockReason: { rule: "last" } },
    terminal: { field: "block", decision: "block", reason: "blockReason" },
    failure: "closed",
    permission: ["install"],
    since: "2026.4",
  }),
] as const;
