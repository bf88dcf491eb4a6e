/** Trusted side: makes a call's error of what came out of a cell. All of it is hostile text until it has been through here. */
import { SourceMap } from "node:module";
import { ERRORS, errorMessage } from "../protocol/errors.ts";
import type { ErrorCode, ErrorParams } from "../protocol/errors.ts";
import { errorText } from "../protocol/messages.ts";
import type { CallError } from "../protocol/outcome.ts";
import type { PluginBundle } from "./bundle.ts";
import { oneLine } from "./one-line.ts";

export { oneLine };

export function ownError(code: ErrorCode, params: ErrorParams = {}): CallError {
  return { code, message: oneLine(errorMessage(code, params)) };
}

/** `body` is the error JSON of a guest or a lane. */
export function guestError(body: string, bundle: PluginBundle | undefined): CallError {
  let found: unknown;
  try {
    found = JSON.parse(body);
  } catch {
    found = undefined;
  }
  const parsed = errorText.safeParse(found);
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
    const origin = map?.findOrigin(Number(groups.line), Number(groups.column));
    const at =
      origin && "fileName" in origin
        ? `${oneLine(origin.fileName, MAX_FILE_CHARS)}:${origin.lineNumber}:${origin.columnNumber}`
        : `bundle:${groups.line}:${groups.column}`;
    found.push({ at, text: groups.name ? `${oneLine(groups.name, 100)} (${at})` : at });
  }
  return found;
}

const maps = new WeakMap<PluginBundle, SourceMap>();

function sourceMap(bundle: PluginBundle): SourceMap {
  let map = maps.get(bundle);
  if (!map) maps.set(bundle, (map = new SourceMap(JSON.parse(bundle.map) as ConstructorParameters<typeof SourceMap>[0])));
  return map;
}
