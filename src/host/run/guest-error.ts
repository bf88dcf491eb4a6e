/** Trusted side: turns what a cell reports into the error of a call. Everything from a cell is hostile text until it has passed through here. */
import { ERRORS, errorMessage } from "../../protocol/errors.ts";
import type { ErrorCode, ErrorParams } from "../../protocol/errors.ts";
import { fitsBytes } from "../../transport/frames.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { errorText } from "../../protocol/messages/host-lane.ts";
import type { CallError } from "../../protocol/outcome.ts";
import type { PluginBundle } from "../../bundler/bundle.ts";
import { oneLine } from "../../text/one-line.ts";
import { parseJson } from "../../text/parse-json.ts";
import { SourceLines } from "../report/source-lines.ts";

export function ownError(code: ErrorCode, params: ErrorParams = {}): CallError {
  const message = oneLine(errorMessage(code, params));
  const { at, frame } = params;
  return {
    code,
    message,
    ...(typeof frame === "string" && { stack: `${message}\n${frame}` }),
    ...(typeof at === "string" && { at }),
  };
}

/** `body` is the error JSON of a guest or a lane. */
export function guestError(body: string, bundle: PluginBundle | undefined): CallError {
  const parsed = parseJson(errorText, fitsBytes(body, LIMITS.call.errorBytes) ? body : undefined);
  if (!parsed.success) return ownError("ERR_CALL_FAILED", { detail: "no description" });
  const { code, name, message, stack } = parsed.data;
  const frames = stack ? mapStack(stack, bundle) : [];
  const known = code !== undefined && Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : undefined;
  const what = oneLine(name && name !== "Error" ? `${name}: ${message}` : message);
  return {
    code: known ?? "ERR_CALL_FAILED",
    message: known ? what : oneLine(errorMessage("ERR_CALL_FAILED", { detail: what })),
    ...(frames.length > 0 && { stack: `${what}\n${frames.map((frame) => `    at ${frame.text}`).join("\n")}` }),
    ...(frames[0] && { at: frames[0].at }),
  };
}

interface Frame {
  readonly at: string;
  readonly text: string;
}

const FRAME = /^\s*at (?:(?<name>[\w.<>$ #[\]]{1,100}) \()?creel:plugin\/[^\s:]+:(?<line>\d{1,7}):(?<column>\d{1,7})\)?$/;
const MAX_FRAMES = 16;
const MAX_FILE_CHARS = 300;

/** Frames of the plugin's own code, at the author's file and line; everything else in a stack is left out. */
function mapStack(stack: string, bundle: PluginBundle | undefined): Frame[] {
  const found: Frame[] = [];
  const map = bundle && sourceMap(bundle);
  for (const line of stack.split("\n", 64)) {
    const groups = FRAME.exec(line)?.groups;
    if (!groups || found.length >= MAX_FRAMES) continue;
    const origin = map?.find(Number(groups.line), Number(groups.column));
    const at = origin
      ? `${oneLine(origin.file, MAX_FILE_CHARS)}:${origin.line}:${origin.column}`
      : `bundle:${groups.line}:${groups.column}`;
    found.push({ at, text: groups.name ? `${oneLine(groups.name, 100)} (${at})` : at });
  }
  return found;
}

const maps = new WeakMap<PluginBundle, SourceLines>();

function sourceMap(bundle: PluginBundle): SourceLines {
  let map = maps.get(bundle);
  if (!map) maps.set(bundle, (map = new SourceLines(bundle.map)));
  return map;
}
