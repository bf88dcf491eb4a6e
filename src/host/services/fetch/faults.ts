/** Trusted side: what a plugin learns when a request fails in transit. */
import { CreelError } from "../../../protocol/errors.ts";
import { CONNECT_FAULTS } from "../../../protocol/guest-surface/connect-faults.ts";

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^ENOTFOUND$|^EAI_/, CONNECT_FAULTS.ENOTFOUND],
  [/^ECONNREFUSED$/, CONNECT_FAULTS.ECONNREFUSED],
  [/^ECONNRESET$|^EPIPE$|^ERR_STREAM_PREMATURE_CLOSE$|^UND_ERR_(?:SOCKET|CLOSED|DESTROYED|RES_CONTENT_LENGTH)/, CONNECT_FAULTS.ECONNRESET],
  [/^E(?:TIMEDOUT|HOSTUNREACH|NETUNREACH|ADDRNOTAVAIL)$|^UND_ERR_CONNECT_TIMEOUT$/, CONNECT_FAULTS.EHOSTUNREACH],
  [/CERT|^UNABLE_TO_/, CONNECT_FAULTS.CERT_INVALID],
  [/^ERR_SSL_|^ERR_TLS_|^EPROTO$/, CONNECT_FAULTS.EPROTO],
  [/^HPE_|^HTTPParserError$|^UND_ERR_(?:HEADERS_OVERFLOW|RESPONSE)/, "it does not answer in HTTP"],
  [/^Z_|^ERR_BROTLI|^ERR__ERROR/, "its answer is not encoded as it says"],
];

export function faultOf(error: unknown, origin: string, signal: AbortSignal): CreelError {
  if (signal.aborted) return signal.reason as CreelError;
  return error instanceof CreelError ? error : new CreelError("ERR_FETCH_FAILED", { origin, detail: wordsFor(error) });
}

/**
 * SECURITY: Node's messages name addresses and paths; the plugin gets fixed texts instead. test/contract/fetch.test.ts
 */
export function wordsFor(error: unknown): string {
  const { code: given, name } = error as { code?: string; name?: string };
  const code = given ?? name ?? "";
  return WORDS.find(([pattern]) => pattern.test(code))?.[1] ?? "the connection failed";
}
