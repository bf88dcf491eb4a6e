/** Inside the isolate: `Response`. The body is there as a whole when the answer is; there are no streams. */
import type { FetchAnswer } from "../../../protocol/fetch-message.ts";
import { bytesOf, contentOf, textOf } from "./content.ts";
import type { Content } from "./content.ts";
import { Headers } from "./headers.ts";
import { bare, NativeNumber, NativeString, NativeTypeError, parse } from "../primordials.ts";

interface Init {
  status?: unknown;
  statusText?: unknown;
  headers?: unknown;
}

/** Makes a Response of the host's answer. */
export let received: (answer: FetchAnswer) => Response;

export class Response {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  #content: Content;
  #url = "";
  #redirected = false;
  #bodyUsed = false;

  static {
    received = (told) => {
      const answer = bare(told);
      const response = new Response(undefined, answer);
      response.#content = answer;
      response.#url = answer.url;
      response.#redirected = answer.redirected;
      return response;
    };
  }

  constructor(body?: unknown, init?: Init) {
    const { status = 200, statusText = "", headers } = init ?? bare<Init>({});
    this.status = NativeNumber(status);
    this.statusText = NativeString(statusText);
    this.headers = new Headers(headers);
    this.#content = contentOf(body);
    if (this.#content.type !== undefined && !this.headers.has("content-type")) this.headers.set("content-type", this.#content.type);
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }
  get url(): string {
    return this.#url;
  }
  get redirected(): boolean {
    return this.#redirected;
  }
  get bodyUsed(): boolean {
    return this.#bodyUsed;
  }

  async text(): Promise<string> {
    return textOf(this.#use());
  }
  async json(): Promise<unknown> {
    return parse(textOf(this.#use())) as unknown;
  }
  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return bytesOf(this.#use());
  }
  async arrayBuffer(): Promise<ArrayBuffer> {
    return bytesOf(this.#use()).buffer;
  }

  clone(): Response {
    if (this.#bodyUsed) throw new NativeTypeError("the body was read already");
    const copy = new Response(undefined, this);
    copy.#content = this.#content;
    copy.#url = this.#url;
    copy.#redirected = this.#redirected;
    return copy;
  }

  #use(): Content {
    if (this.#bodyUsed) throw new NativeTypeError("the body was read already");
    this.#bodyUsed = true;
    return this.#content;
  }
}
