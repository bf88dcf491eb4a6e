/**
 * What a result's text may be, before anybody parses it. The lane refuses a longer or deeper one in its plugin's name, so the host only meets
 * one from a lane that was taken over.
 */
import { fitsBytes } from "./frames.ts";
import type { ErrorCode, ErrorParams } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { isBounded } from "../protocol/rules/json-bounds.ts";

/** The bound that it breaks. */
export type ResultRefusal = readonly [code: Extract<ErrorCode, "ERR_CALL_RESULT_SIZE" | "ERR_CALL_RESULT_SHAPE">, params: ErrorParams];

export function resultRefusal(text: string, bytesOut: number): ResultRefusal | undefined {
  const { resultValues: values, resultDepth: depth } = LIMITS.call;
  if (!fitsBytes(text, bytesOut)) return ["ERR_CALL_RESULT_SIZE", { bytes: Buffer.byteLength(text), limit: bytesOut }];
  return isBounded(text, values, depth) ? undefined : ["ERR_CALL_RESULT_SHAPE", { values, depth }];
}
