/**
 * Trusted side: the digest of what a person sees when they answer: the tool and its parameters as they would run. An answer names
 * it, so that it can never count for anything else than what was on the screen.
 */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../../text/canonical-json.ts";

export function digestOf(toolName: string, params: unknown): string {
  return createHash("sha256")
    .update(canonicalJson([toolName, params]))
    .digest("hex");
}
