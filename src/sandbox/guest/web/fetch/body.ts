/**
 * Inside the isolate: bodies of requests and responses. A body is complete, or its rest comes in pieces from a source.
 * A stream is made only if the plugin reads one, so that reading JSON does not load the streams' code.
 */
import type { ReadableStream } from "web-streams-polyfill";
import type { FetchPiece } from "../../../../protocol/messages/fetch.ts";
import { bare, NativeTypeError, parse } from "../../boot/primordials.ts";
import { bytesOf, contentOf, fromBytes, joined, textOf } from "./content.ts";
import type { Content } from "./content.ts";
import { multipartPart, streamsPart } from "./parts.ts";

/** Where the rest of a body comes from. */
export interface Source {
  read(): Promise<FetchPiece>;
  /** The plugin does not want the rest. */
  cancel(reason: unknown): void;
  /** Called if the source fails while the plugin is not reading. */
  failed?: ((reason: unknown) => void) | undefined;
}

interface State {
  /** The part that has arrived. If all three are undefined, there is no body. */
  content: Content | undefined;
  source: Source | undefined;
  stream: Disturbable | undefined;
  isUsed: boolean;
}

/** The ponyfill's field for what the standard calls disturbed. */
type Disturbable = ReadableStream<Uint8Array> & { _disturbed?: boolean };

export let stateOf: (body: Body) => State;

export class Body {
  #state: State = bare<State>({ content: undefined, source: undefined, stream: undefined, isUsed: false });

  static {
    stateOf = (body) => body.#state;
  }

  get body(): ReadableStream<Uint8Array> | null {
    const state = this.#state;
    if (!state.content && !state.source && !state.stream) return null;
    return (state.stream ??= streamOf(state));
  }

  get bodyUsed(): boolean {
    return isUsed(this.#state);
  }

  async text(): Promise<string> {
    return textOf(await consume(this.#state));
  }
  async json(): Promise<unknown> {
    return parse(textOf(await consume(this.#state))) as unknown;
  }
  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return bytesOf(await consume(this.#state));
  }
  async arrayBuffer(): Promise<ArrayBuffer> {
    return bytesOf(await consume(this.#state)).buffer;
  }
  async blob(): Promise<unknown> {
    const type = mediaType(typeOf(this) ?? "");
    const bytes = bytesOf(await consume(this.#state));
    const { Blob: Made } = globalThis as unknown as { Blob: new (parts: unknown[], options: object) => unknown };
    return new Made([bytes], { type });
  }
  async formData(): Promise<unknown> {
    const type = typeOf(this);
    const content = await consume(this.#state);
    return multipartPart().formOf(content, type);
  }
}

function typeOf(body: Body): string | undefined {
  return (body as unknown as { headers: { get(name: string): string | null } }).headers.get("content-type") ?? undefined;
}

/** Parses a content type and writes it again, as the standard wants it for a blob. */
function mediaType(text: string): string {
  const [essence, ...parameters] = text.split(";").map((one) => one.trim());
  if (!/^[!#$%&'*+.^_`|~\w-]+\/[!#$%&'*+.^_`|~\w-]+$/.test(essence!)) return "";
  const written = parameters.filter((one) => one.includes("=")).map((one) => one.replace(/^[^=]*/, (name) => name.toLowerCase()));
  return [essence!.toLowerCase(), ...written].join(";");
}

function isUsed({ isUsed: wasRead, stream }: State): boolean {
  return wasRead || stream?._disturbed === true;
}

export function isUsable(state: State): boolean {
  return !isUsed(state) && state.stream?.locked !== true;
}

/** Reads everything. A second reader gets an error. */
export async function consume(state: State): Promise<Content> {
  if (!isUsable(state)) throw new NativeTypeError("Body is unusable: Body has already been read");
  const { content, source, stream } = state;
  if (stream) return drained(stream);
  if (content || source) state.isUsed = true;
  let all = content ?? bare({ text: "" });
  for (let more = source !== undefined; more;) {
    const piece = bare(await source!.read());
    all = joined(all, piece);
    more = piece.more === true;
  }
  return all;
}

/** Copies the body, so that both can be read. */
export function copyBody(from: Body, to: Body): void {
  const state = stateOf(from);
  if (!isUsable(state)) throw new NativeTypeError("Response.clone: Body has already been consumed.");
  const copy = stateOf(to);
  if (!state.source && !state.stream) {
    copy.content = state.content;
    return;
  }
  const [mine, other] = from.body!.tee();
  state.stream = mine;
  copy.stream = other;
}

async function drained(stream: ReadableStream<Uint8Array>): Promise<Content> {
  const reader = stream.getReader();
  let bytes = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return bare({ bytes });
    if (!(value instanceof Uint8Array)) throw new NativeTypeError("Received non-Uint8Array chunk");
    bytes += fromBytes(value);
  }
}

function streamOf({ content, source }: State): ReadableStream<Uint8Array> {
  const { ReadableStream: Stream } = streamsPart();
  let bytes = content && bytesOf(content);
  let hasMore = source !== undefined;
  return new Stream({
    type: "bytes",
    start(controller) {
      if (source) source.failed = (reason) => controller.error(reason);
    },
    async pull(controller) {
      while ((!bytes || bytes.length === 0) && hasMore) {
        const piece = bare(await source!.read());
        bytes = bytesOf(piece);
        hasMore = piece.more === true;
      }
      if (bytes && bytes.length > 0) controller.enqueue(bytes);
      bytes = undefined;
      if (hasMore) return;
      controller.close();
      controller.byobRequest?.respond(0);
    },
    cancel: (reason) => source?.cancel(reason),
  });
}

/** Takes anything that a plugin may pass as a body. Returns its default content type. */
export function takeBody(body: Body, given: unknown): string | undefined {
  if (given === undefined || given === null) return undefined;
  const state = stateOf(body);
  switch (typeof given === "object" ? (given as Record<symbol, unknown>)[Symbol.toStringTag as symbol] : undefined) {
    case "ReadableStream": {
      const stream = given as Disturbable;
      if (stream.locked || stream._disturbed === true) throw new NativeTypeError("Response body object should not be disturbed or locked");
      state.stream = stream;
      return undefined;
    }
    case "Blob":
    case "File": {
      const blob = given as { readonly type: string; arrayBuffer(): Promise<ArrayBuffer> };
      state.source = once(async () => new Uint8Array(await blob.arrayBuffer()));
      return blob.type === "" ? undefined : blob.type;
    }
    case "FormData": {
      const form = multipartPart().multipart(given);
      state.source = once(() => form.bytes());
      return form.type;
    }
  }
  if (typeof given === "object" && typeof (given as { [Symbol.asyncIterator]?: unknown })[Symbol.asyncIterator] === "function") {
    state.stream = streamsPart().ReadableStream.from(given as AsyncIterable<Uint8Array>);
    return undefined;
  }
  state.content = contentOf(given);
  return state.content.type;
}

function once(make: () => Promise<Uint8Array>): Source {
  return { read: async () => ({ bytes: fromBytes(await make()) }), cancel: () => {} };
}
