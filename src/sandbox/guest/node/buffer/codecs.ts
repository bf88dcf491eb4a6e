/** Inside the isolate: text to bytes and back, in the encodings of Node's buffers. */

export const ENCODINGS = ["utf8", "utf16le", "latin1", "ascii", "base64", "base64url", "hex"] as const;
export type Encoding = (typeof ENCODINGS)[number];

const ALIASES: Record<string, Encoding> = { "utf-8": "utf8", "utf-16le": "utf16le", ucs2: "utf16le", "ucs-2": "utf16le", binary: "latin1" };

export function encodingNamed(name: unknown): Encoding | undefined {
  if (name === undefined || name === null || name === "") return "utf8";
  if (typeof name !== "string") return undefined;
  const lower = name.toLowerCase();
  return (ENCODINGS as readonly string[]).includes(lower)
    ? (lower as Encoding)
    : Object.hasOwn(ALIASES, lower)
      ? ALIASES[lower]
      : undefined;
}

/** V8 limits the number of arguments of a call. */
const CHUNK = 4096;

/** Decodes piece by piece: a text that grows by single characters takes many times its size until it is collected. */
function fromCodes(codes: Uint8Array | Uint16Array, start = 0, end = codes.length): string {
  let text = "";
  for (let i = start; i < end; i += CHUNK)
    text += String.fromCharCode.apply(null, codes.subarray(i, Math.min(i + CHUNK, end)) as unknown as number[]);
  return text;
}

export function utf8Length(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    length += 1;
    if (unit < 0x800) continue;
    length += 1;
    // A surrogate pair is four bytes for two units. A lone surrogate becomes U+FFFD, three bytes.
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const low = text.charCodeAt(i + 1);
    if (low >= 0xdc00 && low <= 0xdfff) i += 1;
  }
  return length;
}

/** Writes only whole characters, as many as fit. Returns the number of bytes. */
export function utf8Write(text: string, into: Uint8Array, start: number, end: number): number {
  let at = start;
  for (let i = 0; i < text.length; i++) {
    let point = text.charCodeAt(i);
    if (point < 0x80) {
      if (at >= end) break;
      into[at++] = point;
      continue;
    }
    if (point >= 0xd800 && point <= 0xdfff) {
      const low = text.charCodeAt(i + 1);
      if (point <= 0xdbff && low >= 0xdc00 && low <= 0xdfff) {
        if (at + 4 > end) break;
        point = ((point - 0xd800) << 10) + low - 0xdc00 + 0x10000;
        into[at++] = 0xf0 | (point >> 18);
        into[at++] = 0x80 | ((point >> 12) & 63);
        into[at++] = 0x80 | ((point >> 6) & 63);
        into[at++] = 0x80 | (point & 63);
        i += 1;
        continue;
      }
      point = 0xfffd;
    }
    if (point < 0x800) {
      if (at + 2 > end) break;
      into[at++] = 0xc0 | (point >> 6);
    } else {
      if (at + 3 > end) break;
      into[at++] = 0xe0 | (point >> 12);
      into[at++] = 0x80 | ((point >> 6) & 63);
    }
    into[at++] = 0x80 | (point & 63);
  }
  return at - start;
}

function utf8Bytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(utf8Length(text));
  utf8Write(text, bytes, 0, bytes.length);
  return bytes;
}

/** What may follow a first byte: [number of bytes, lowest second byte, highest second byte]. */
function lead(byte: number): readonly [more: number, low: number, high: number] | undefined {
  if (byte >= 0xc2 && byte <= 0xdf) return [1, 0x80, 0xbf];
  if (byte >= 0xe0 && byte <= 0xef) return [2, byte === 0xe0 ? 0xa0 : 0x80, byte === 0xed ? 0x9f : 0xbf];
  if (byte >= 0xf0 && byte <= 0xf4) return [3, byte === 0xf0 ? 0x90 : 0x80, byte === 0xf4 ? 0x8f : 0xbf];
  return undefined;
}

/**
 * Follows the Encoding Standard: invalid bytes become U+FFFD, one for each longest valid beginning of a character.
 * Calls `onBad` for each.
 */
export function utf8Text(bytes: Uint8Array, start = 0, end = bytes.length, onBad?: () => void): string {
  let text = "";
  const codes = new Uint16Array(Math.min(CHUNK, end - start) + 1);
  let count = 0;
  for (let i = start; i < end;) {
    if (count >= CHUNK) {
      text += fromCodes(codes, 0, count);
      count = 0;
    }
    const byte = bytes[i++]!;
    if (byte < 0x80) {
      codes[count++] = byte;
      continue;
    }
    const rule = lead(byte);
    let point = 0xfffd;
    if (rule) {
      const [more, low, high] = rule;
      let value = byte & (0x3f >> more);
      let seen = 0;
      while (seen < more && i < end) {
        const next = bytes[i]!;
        if (seen === 0 ? next < low || next > high : (next & 0xc0) !== 0x80) break;
        value = (value << 6) | (next & 63);
        i += 1;
        seen += 1;
      }
      if (seen === more) point = value;
      else onBad?.();
    } else onBad?.();
    if (point > 0xffff) {
      codes[count++] = 0xd800 + ((point - 0x10000) >> 10);
      point = 0xdc00 + ((point - 0x10000) & 0x3ff);
    }
    codes[count++] = point;
  }
  return text + fromCodes(codes, 0, count);
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64URL = `${BASE64.slice(0, 62)}-_`;
const HEX = "0123456789abcdef";
const PADDING = 61;

/** Digit → value, for the standard and the URL alphabet. */
let digits: Int8Array | undefined;

function base64Digits(): Int8Array {
  if (digits) return digits;
  digits = new Int8Array(256).fill(-1);
  for (let i = 0; i < 64; i++) digits[BASE64.charCodeAt(i)] = digits[BASE64URL.charCodeAt(i)] = i;
  return digits;
}

function base64Text(bytes: Uint8Array, start: number, end: number, alphabet: string, isPadded: boolean): string {
  const [size, rest] = [end - start, (end - start) % 3];
  const codes = new Uint8Array(isPadded ? 4 * Math.ceil(size / 3) : Math.ceil((size * 4) / 3));
  codes.fill(PADDING);
  let at = 0;
  for (let i = start; i < end; i += 3) {
    const left = end - i;
    const three = (bytes[i]! << 16) | (left > 1 ? bytes[i + 1]! << 8 : 0) | (left > 2 ? bytes[i + 2]! : 0);
    const digits64 = left > 2 ? 4 : rest + 1;
    for (let digit = 0; digit < digits64; digit++) codes[at++] = alphabet.charCodeAt((three >> (18 - 6 * digit)) & 63);
  }
  return fromCodes(codes);
}

/** Takes both alphabets, skips other characters, and ends at the first `=`. */
function base64Bytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.ceil((text.length * 3) / 4));
  const value = base64Digits();
  let [length, bits, held] = [0, 0, 0];
  for (let i = 0; i < text.length; i++) {
    // As in Node: of a character above U+00FF the low byte counts.
    const unit = text.charCodeAt(i) & 255;
    if (unit === PADDING) break;
    const digit = value[unit]!;
    if (digit < 0) continue;
    held = ((held << 6) | digit) & 0xffffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[length++] = (held >> bits) & 255;
  }
  return bytes.slice(0, length);
}

/** Gives -1 for no digit. As for base64, the low byte counts. */
function hexDigit(unit: number): number {
  const byte = unit & 255;
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

/** Ends at the first pair that is not hexadecimal. */
function hexBytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length >> 1);
  for (let i = 0; i < bytes.length; i++) {
    const [high, low] = [hexDigit(text.charCodeAt(2 * i)), hexDigit(text.charCodeAt(2 * i + 1))];
    if (high < 0 || low < 0) return bytes.slice(0, i);
    bytes[i] = (high << 4) | low;
  }
  return bytes;
}

export function encode(text: string, encoding: Encoding): Uint8Array<ArrayBuffer> {
  switch (encoding) {
    case "utf8":
      return utf8Bytes(text);
    case "utf16le": {
      const bytes = new Uint8Array(text.length * 2);
      for (let i = 0; i < text.length; i++) {
        bytes[2 * i] = text.charCodeAt(i);
        bytes[2 * i + 1] = text.charCodeAt(i) >> 8;
      }
      return bytes;
    }
    case "latin1":
    case "ascii": {
      const bytes = new Uint8Array(text.length);
      for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
      return bytes;
    }
    case "base64":
    case "base64url":
      return base64Bytes(text);
    default:
      return hexBytes(text);
  }
}

export function decode(bytes: Uint8Array, encoding: Encoding, start = 0, end = bytes.length): string {
  switch (encoding) {
    case "utf8":
      return utf8Text(bytes, start, end);
    case "utf16le": {
      const units = new Uint16Array((end - start) >> 1);
      for (let i = 0; i < units.length; i++) units[i] = bytes[start + 2 * i]! | (bytes[start + 2 * i + 1]! << 8);
      return fromCodes(units);
    }
    case "latin1":
      return fromCodes(bytes, start, end);
    case "ascii":
      return fromCodes(Uint8Array.from(bytes.subarray(start, end), (byte) => byte & 127));
    case "base64":
      return base64Text(bytes, start, end, BASE64, true);
    case "base64url":
      return base64Text(bytes, start, end, BASE64URL, false);
    default: {
      const codes = new Uint8Array(2 * (end - start));
      for (let i = 0; i < codes.length; i++) codes[i] = HEX.charCodeAt((bytes[start + (i >> 1)]! >> (i % 2 === 0 ? 4 : 0)) & 15);
      return fromCodes(codes);
    }
  }
}

/** As Node counts: for base64, what its length promises, whatever it contains. */
export function encodedLength(text: string, encoding: Encoding): number {
  switch (encoding) {
    case "utf8":
      return utf8Length(text);
    case "utf16le":
      return text.length * 2;
    case "hex":
      return text.length >>> 1;
    case "base64":
    case "base64url": {
      const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
      return ((text.length - padding) * 3) >>> 2;
    }
    default:
      return text.length;
  }
}
