/** Inside the isolate: `fetch`. A question to the host, which makes the request if the operator granted its origin. */
import type { FetchAnswer } from "../../../protocol/fetch-message.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import { ask } from "../asks.ts";
import { contentOf } from "./content.ts";
import { Headers, tableOf } from "./headers.ts";
import { bare, NativeString, NativeTypeError, upperCase } from "../primordials.ts";
import { received, Response } from "./response.ts";

interface Init {
  method?: unknown;
  headers?: unknown;
  body?: unknown;
  redirect?: unknown;
  signal?: unknown;
}

export async function fetch(input: unknown, init?: Init): Promise<Response> {
  const { method = "GET", headers, body, redirect = "follow", signal } = init ?? bare<Init>({});
  if (signal !== undefined && signal !== null) throw new NativeTypeError("fetch takes no signal inside the sandbox");
  const { text, bytes, type } = contentOf(body);
  const table = tableOf(new Headers(headers));
  if (type !== undefined) table["content-type"] ??= type;
  const question = bare({ url: NativeString(input), method: upperCase(NativeString(method)), headers: table, redirect, text, bytes });
  return received((await ask("fetch", question, LIMITS.eventBytes)) as FetchAnswer);
}

export { Headers, Response };
