/** Untrusted side, lane thread: what came over a link. A frame that has to wait is unpacked at once, and kept so. */
import { isCallFrame, readCallRequest } from "../../transport/call-frames.ts";
import type { CallRequest } from "../../transport/call-frames.ts";
import { unpack } from "../../transport/frames.ts";
import type { Frame, Unpacked } from "../../transport/frames.ts";
import type { HostMessage } from "../../protocol/messages/host-lane.ts";

export type Item = Frame | Unpacked;

/** Unpacks a message; a call stays as it is. */
export function toItem(frame: Item): Item {
  return typeof frame === "string" && !isCallFrame(frame) ? unpack(frame) : frame;
}

/** The message in an item that was unpacked before; undefined: it is a call. */
export function messageOf(item: Item): HostMessage | undefined {
  return typeof item === "object" && "header" in item ? (item.header as HostMessage) : undefined;
}

/** The call in an item; undefined: it is a message. Only calls come in parts. */
export function callOf(item: Item): CallRequest | undefined {
  const isCall = typeof item === "string" ? isCallFrame(item) : !("header" in item);
  return isCall ? readCallRequest(item as Frame) : undefined;
}
