/**
 * Inside the isolate: contents of bodies, in the two forms of protocol/messages/fetch.ts: text, or bytes as a string
 * with one character each.
 */
import {
  bare,
  call,
  charCodeAt,
  encodeUri,
  fromCharCode,
  fromCodePoint,
  isView,
  NativeArrayBuffer,
  NativeString,
  NativeUint8Array,
  sliceText,
  subarray,
  toWellFormed,
  unescapeText,
} from "../../boot/primordials.ts";

export interface Content {
  text?: string | undefined;
  bytes?: string | undefined;
  /** The default content type. */
  type?: string;
}

const FORM = "application/x-www-form-urlencoded;charset=UTF-8";
const CHUNK = 8_192;
const kind: symbol = Symbol.toStringTag;

/** What a plugin passed as a body. */
export function contentOf(body: unknown): Content {
  if (body === undefined || body === null) return bare({});
  if (isView(body)) return bare({ bytes: fromBytes(new NativeUint8Array(body.buffer, body.byteOffset, body.byteLength)) });
  if (body instanceof NativeArrayBuffer) return bare({ bytes: fromBytes(new NativeUint8Array(body)) });
  const isForm = typeof body === "object" && (body as Record<symbol, unknown>)[kind] === "URLSearchParams";
  return bare({ text: toWellFormed(NativeString(body)), type: isForm ? FORM : "text/plain;charset=UTF-8" });
}

/** With a byte order mark, if there is one. */
export function markedTextOf({ text, bytes }: Content): string {
  return text ?? decode(bytes ?? "");
}

/** Without a byte order mark. */
export function textOf(content: Content): string {
  const decoded = markedTextOf(content);
  return charCodeAt(decoded, 0) === 0xfeff ? sliceText(decoded, 1) : decoded;
}

export function bytesOf({ text, bytes }: Content): Uint8Array<ArrayBuffer> {
  const source = encoded({ text, bytes });
  const made = new NativeUint8Array(source.length);
  for (let i = 0; i < source.length; i++) made[i] = charCodeAt(source, i);
  return made;
}

/** Joins the pieces. */
export function joined(a: Content, b: Content): Content {
  if (a.bytes === undefined && b.bytes === undefined) return bare({ text: (a.text ?? "") + (b.text ?? "") });
  return bare({ bytes: encoded(a) + encoded(b) });
}

function encoded({ text, bytes }: Content): string {
  return bytes ?? unescapeText(encodeUri(toWellFormed(text ?? "")));
}

export function fromBytes(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK) text += call(fromCharCode, undefined, subarray(bytes, at, at + CHUNK));
  return text;
}

/** Decodes UTF-8 as TextDecoder does: invalid bytes become U+FFFD. */
function decode(bytes: string): string {
  let text = "";
  let point = 0;
  let missing = 0;
  let low = 0x80;
  let high = 0xbf;
  for (let i = 0; i < bytes.length; i++) {
    const byte = charCodeAt(bytes, i);
    if (missing > 0) {
      if (byte >= low && byte <= high) {
        point = point * 64 + (byte & 0x3f);
        missing -= 1;
        if (missing === 0) text += fromCodePoint(point);
      } else {
        // The byte may start the next character.
        text += "\ufffd";
        missing = 0;
        i -= 1;
      }
      low = 0x80;
      high = 0xbf;
    } else if (byte < 0x80) {
      text += fromCharCode(byte);
    } else if (byte < 0xc2 || byte > 0xf4) {
      text += "\ufffd";
    } else {
      missing = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
      point = byte & (0x3f >> missing);
      // No overlong forms, no surrogates, nothing past U+10FFFF.
      if (byte === 0xe0) low = 0xa0;
      else if (byte === 0xf0) low = 0x90;
      else if (byte === 0xed) high = 0x9f;
      else if (byte === 0xf4) high = 0x8f;
    }
  }
  return missing > 0 ? `${text}\ufffd` : text;
}
