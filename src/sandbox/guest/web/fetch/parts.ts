/** Inside the isolate: parts that `fetch` needs only sometimes. A cell that just reads JSON evaluates none of them. */
import { part } from "../../boot/library.ts";
import type * as Abort from "../abort.ts";
import type * as Multipart from "./multipart.ts";
import type * as Streams from "../streams.ts";

export function abortPart(): typeof Abort {
  return part("web/abort") as typeof Abort;
}

export function streamsPart(): typeof Streams {
  return part("web/streams") as typeof Streams;
}

export function multipartPart(): typeof Multipart {
  return part("web/fetch/multipart") as typeof Multipart;
}

interface ParsedUrl {
  readonly href: string;
  readonly username: string;
  readonly password: string;
}

/** Throws fetch's error for an invalid URL. */
export function parsedUrl(given: unknown): ParsedUrl {
  const { URL: Parser } = part("web/url/url") as { URL: new (url: string) => ParsedUrl };
  const text = String(given);
  try {
    return new Parser(text);
  } catch (cause) {
    throw new TypeError(`Failed to parse URL from ${text}`, { cause });
  }
}
