/** Inside the isolate: `MessageEvent` and `CloseEvent`, the events of WebSocket and EventSource. */
import { Event } from "../events.ts";
import type { EventInit } from "../events.ts";
import { expose } from "../idl.ts";
import { str } from "../text.ts";

interface MessageInit extends EventInit {
  data?: unknown;
  origin?: unknown;
  lastEventId?: unknown;
}

export class MessageEvent extends Event {
  readonly #data: unknown;
  readonly #origin: string;
  readonly #lastEventId: string;

  constructor(type: unknown, init: MessageInit = {}) {
    super(type, init);
    this.#data = init.data ?? null;
    this.#origin = str(init.origin ?? "");
    this.#lastEventId = str(init.lastEventId ?? "");
  }
  get data(): unknown {
    return this.#data;
  }
  get origin(): string {
    return this.#origin;
  }
  get lastEventId(): string {
    return this.#lastEventId;
  }
  get source(): null {
    return null;
  }
  get ports(): readonly unknown[] {
    return [];
  }
}

interface CloseInit extends EventInit {
  wasClean?: unknown;
  code?: unknown;
  reason?: unknown;
}

export class CloseEvent extends Event {
  readonly #wasClean: boolean;
  readonly #code: number;
  readonly #reason: string;

  constructor(type: unknown, init: CloseInit = {}) {
    super(type, init);
    this.#wasClean = Boolean(init.wasClean);
    this.#code = Number(init.code ?? 0);
    this.#reason = str(init.reason ?? "");
  }
  get wasClean(): boolean {
    return this.#wasClean;
  }
  get code(): number {
    return this.#code;
  }
  get reason(): string {
    return this.#reason;
  }
}

expose(MessageEvent);
expose(CloseEvent);
