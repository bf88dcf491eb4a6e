/**
 * Inside the isolate: requests to the host. A request is left as mail; its response comes back as a turn of its own.
 * The host takes a limited number at a time. The rest waits here, on the plugin's own heap, oldest first.
 */
import { LIMITS } from "../../../protocol/limits.ts";
import { MAIL } from "../../../protocol/messages/mail.ts";
import { beginTurn, post, turn } from "./mailbox.ts";
import { mapDelete, mapEach, mapGet, mapSet, NativeError, NativeMap, NativePromise, parse, stringify } from "../boot/primordials.ts";

interface Outstanding {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  /** The call that made the request: what follows from the response still belongs to it. */
  call: number;
  /** Undefined once it was sent. */
  text: string | undefined;
  /**
   * Runs when the lane drops the call after the request was sent. `kept`: the request goes on without its call, as
   * bytes for a connection must.
   */
  dropped?: ((call: number) => void) | "kept" | undefined;
}

const outstanding = new NativeMap<number, Outstanding>();
let next = 1;
/** The oldest that was not sent. Those before it are with the host, answered or dropped. */
let unsent = 1;
let waiting = 0;
let pending = 0;

/** `service` is a name of protocol/messages; the host decides whether this plugin may use it. */
export function requestHost(
  service: string,
  args: unknown,
  limit: number = LIMITS.requests.bytes,
  dropped?: ((call: number) => void) | "kept",
): Promise<unknown> {
  return new NativePromise((resolve, reject) => {
    if (waiting >= LIMITS.requests.waiting)
      throw serviceError("ERR_SERVICE_BUSY", `the plugin already has ${waiting + pending} requests to the host pending`);
    const json = stringify(args) as string | undefined;
    const text = json ?? "null";
    // The lane counts bytes. A text with more characters than that is over the limit in any case.
    if (text.length > limit)
      throw serviceError("ERR_SERVICE_SIZE", `the argument of ${service} has ${text.length} characters, the limit is ${limit} bytes`);
    mapSet(outstanding, next++, { resolve, reject, call: turn.call, text: `${service}\n${text}`, dropped });
    waiting += 1;
    send();
  });
}

/** A request whose response is ignored. */
export function notifyHost(service: string, args: object, call: number = turn.call): void {
  mapSet(outstanding, next++, { resolve: nothing, reject: nothing, call, text: `${service}\n${stringify(args)}` });
  waiting += 1;
  send();
}

function nothing(): void {}

/** Sends as many as the host takes. */
function send(): void {
  while (pending < LIMITS.requests.pending && unsent < next) {
    const id = unsent++;
    const one = mapGet(outstanding, id);
    // Dropped meanwhile.
    if (!one) continue;
    waiting -= 1;
    pending += 1;
    post(MAIL.request, id, 0, one.call, one.text);
    one.text = undefined;
  }
}

/** The host has responded. */
export function responded(id: number, isOk: boolean, text: string): void {
  const one = mapGet(outstanding, id);
  if (!one) return;
  mapDelete(outstanding, id);
  pending -= 1;
  beginTurn(one.call);
  send();
  const value = parse(text) as unknown;
  if (isOk) return one.resolve(value);
  const { code, message } = value as { code: string; message: string };
  one.reject(serviceError(code, message));
}

/** A call ran out of time: its requests are forgotten. */
export function dropRequestsOf(call: number): void {
  const dropped = new NativeMap<number, (call: number) => void>();
  mapEach(outstanding, (one, id) => {
    if (one.call !== call) return;
    if (one.dropped === "kept") {
      one.call = 0;
      return;
    }
    mapDelete(outstanding, id);
    if (one.text === undefined) {
      pending -= 1;
      if (one.dropped) mapSet(dropped, id, one.dropped);
    } else waiting -= 1;
  });
  mapEach(dropped, (run) => run(call));
  send();
}

/** An error with a `code` that the plugin can read. */
export function serviceError(code: string, message: string): Error {
  const error = new NativeError(message) as Error & { code: string };
  error.code = code;
  return error;
}
