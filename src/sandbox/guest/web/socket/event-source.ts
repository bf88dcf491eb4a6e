/** Inside the isolate: `EventSource`, over `fetch`: the same grants, secrets and limits. It connects again when it is cut. */
import { DOMException } from "../dom-exception.ts";
import { TextDecoder } from "../encoding.ts";
import { dispatch, Event, EventTarget, handlerOf, setHandler } from "../events.ts";
import { fetch } from "../fetch/fetch.ts";
import { constants, expose } from "../idl.ts";
import { abortPart } from "../fetch/parts.ts";
import type { AbortController } from "../abort.ts";
import { MessageEvent } from "./message-events.ts";

const STATE = { CONNECTING: 0, OPEN: 1, CLOSED: 2 } as const;
const RETRY_MS = 3_000;

export class EventSource extends EventTarget {
  readonly #url: URL;
  #state: number = STATE.CONNECTING;
  #retryMs = RETRY_MS;
  #lastEventId = "";
  #ending: AbortController | undefined;
  #type = "";
  #data: string[] = [];

  constructor(url: unknown) {
    super();
    const parsed = URL.parse(String(url));
    if (!parsed) throw new DOMException(`Invalid URL for an EventSource: ${String(url)}`, "SyntaxError");
    this.#url = parsed;
    void this.#connect();
  }

  async #connect(): Promise<void> {
    const { AbortController: Controller } = abortPart();
    this.#ending = new Controller();
    try {
      const id = this.#lastEventId;
      const headers = { accept: "text/event-stream", "cache-control": "no-store", ...(id !== "" && { "last-event-id": id }) };
      const response = await fetch(this.#url.href, { headers, signal: this.#ending.signal });
      if (this.#state === STATE.CLOSED) return;
      const isStream = (response.headers.get("content-type") ?? "").startsWith("text/event-stream");
      if (response.status !== 200 || !isStream) return this.#fail();
      this.#state = STATE.OPEN;
      dispatch(this, new Event("open"), true);
      await this.#read(response.body);
    } catch (error) {
      // What was not granted will not be, however often it is asked for.
      if ((error as { code?: unknown } | undefined)?.code === "ERR_GRANT_MISSING") return this.#fail();
    }
    if (this.#state === STATE.CLOSED) return undefined;
    this.#state = STATE.CONNECTING;
    dispatch(this, new Event("error"), true);
    setTimeout(() => {
      if (this.#state !== STATE.CLOSED) void this.#connect();
    }, this.#retryMs);
    return undefined;
  }

  async #read(body: AsyncIterable<Uint8Array> | null): Promise<void> {
    const decoder = new TextDecoder();
    let text = "";
    this.#type = "";
    this.#data = [];
    if (body)
      for await (const chunk of body) {
        text += decoder.decode(chunk, { stream: true });
        // A carriage return at the end may be half of a line's end.
        const lines = text.split(/\r\n|\n|\r(?!$)/);
        text = lines.pop()!;
        for (const line of lines) this.#line(line);
        if (this.#isOver()) return;
      }
  }

  #isOver(): boolean {
    return this.#state === STATE.CLOSED;
  }

  #line(line: string): void {
    if (line === "") return this.#emit();
    const at = line.indexOf(":");
    const [name, value] = at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 1).replace(/^ /, "")];
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#type = value;
    else if (name === "id" && !value.includes("\0")) this.#lastEventId = value;
    else if (name === "retry" && /^\d+$/.test(value)) this.#retryMs = Number(value);
  }

  #emit(): void {
    const [type, data] = [this.#type || "message", this.#data];
    this.#type = "";
    this.#data = [];
    if (data.length === 0 || this.#isOver()) return;
    const init = { data: data.join("\n"), origin: this.#url.origin, lastEventId: this.#lastEventId };
    dispatch(this, new MessageEvent(type, init), true);
  }

  #fail(): void {
    if (this.#state === STATE.CLOSED) return;
    this.#state = STATE.CLOSED;
    this.#ending?.abort();
    dispatch(this, new Event("error"), true);
  }

  close(): void {
    this.#state = STATE.CLOSED;
    this.#ending?.abort();
  }

  get url(): string {
    return this.#url.href;
  }
  get readyState(): number {
    return this.#state;
  }
  get withCredentials(): boolean {
    return false;
  }
}

for (const type of ["open", "message", "error"])
  Object.defineProperty(EventSource.prototype, `on${type}`, {
    get(this: EventSource) {
      return handlerOf(this, type);
    },
    set(this: EventSource, handler: unknown) {
      setHandler(this, type, handler);
    },
    configurable: true,
    enumerable: true,
  });
expose(EventSource);
constants([EventSource, EventSource.prototype], STATE);
