/** Inside the isolate: `querystring`. */
import { Buffer } from "./buffer/buffer-class.ts";
import { nodeError } from "./errors.ts";

type Query = Record<string, string | string[]>;

/** As Node: half a pair takes whatever follows it for its other half, and is an error only at the end. */
function escapeText(value: string | number): string {
  const text = `${value}`;
  if (text.isWellFormed()) return encodeURIComponent(text);
  return text.replaceAll(/[\ud800-\udfff][^]?|[^\ud800-\udfff]+/g, (part) => (part.isWellFormed() ? encodeURIComponent(part) : half(part)));
}

function half(text: string): string {
  if (text.length < 2) throw nodeError(URIError, "ERR_INVALID_URI", "URI malformed");
  const point = 0x10000 + ((text.charCodeAt(0) & 0x3ff) << 10) + (text.charCodeAt(1) & 0x3ff);
  return encodeURIComponent(String.fromCodePoint(point));
}

function primitive(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" && Number.isFinite(value)) return `${value}`;
  return typeof value === "bigint" || typeof value === "boolean" ? `${value}` : "";
}

function unescapeBuffer(text: string, decodeSpaces = false): Buffer {
  const bytes = Buffer.allocUnsafe(text.length);
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const hex = text[i] === "%" ? /^[\da-f]{2}$/i.exec(text.slice(i + 1, i + 3)) : null;
    if (hex) {
      bytes[length++] = Number.parseInt(hex[0], 16);
      i += 2;
    } else bytes[length++] = decodeSpaces && text[i] === "+" ? 32 : text.charCodeAt(i);
  }
  return bytes.subarray(0, length);
}

function unescapeText(text: string, decodeSpaces = false): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return unescapeBuffer(text, decodeSpaces).toString();
  }
}

function stringify(
  fields: unknown,
  separator?: string | null,
  equals?: string | null,
  options?: { encodeURIComponent?: (text: string) => string },
): string {
  if (typeof fields !== "object" || fields === null) return "";
  const [between, is] = [separator || "&", equals || "="];
  const encode = typeof options?.encodeURIComponent === "function" ? options.encodeURIComponent : querystring.escape;
  return Object.entries(fields)
    .filter(([, value]) => !Array.isArray(value) || value.length > 0)
    .map(([name, value]) =>
      (Array.isArray(value) ? (value as unknown[]) : [value])
        .map((one) => encode(primitive(name)) + is + (primitive(one) === "" ? "" : encode(primitive(one))))
        .join(between),
    )
    .join(between);
}

function parse(
  text: unknown,
  separator?: string | null,
  equals?: string | null,
  options?: { maxKeys?: number; decodeURIComponent?: (text: string) => string },
): Query {
  const query = { __proto__: null } as unknown as Query;
  if (typeof text !== "string" || text === "") return query;
  const [between, is] = [separator || "&", equals || "="];
  const most = typeof options?.maxKeys === "number" ? (options.maxKeys > 0 ? options.maxKeys : Infinity) : 1000;
  const decode = typeof options?.decodeURIComponent === "function" ? options.decodeURIComponent : undefined;
  const decoded = (part: string): string => {
    const plain = part.replaceAll("+", " ");
    if (!decode) return /%/.test(plain) ? querystring.unescape(plain) : plain;
    try {
      return decode(plain);
    } catch {
      return unescapeText(plain, true);
    }
  };
  let count = 0;
  for (const pair of text.split(between)) {
    if (pair === "") continue;
    if (count++ >= most) break;
    const at = pair.indexOf(is);
    const name = decoded(at < 0 ? pair : pair.slice(0, at));
    const value = at < 0 ? "" : decoded(pair.slice(at + is.length));
    const before = query[name];
    if (before === undefined) query[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else query[name] = [before, value];
  }
  return query;
}

const querystring = { unescapeBuffer, unescape: unescapeText, escape: escapeText, stringify, encode: stringify, parse, decode: parse };

export default querystring;
