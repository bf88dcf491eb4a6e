/** Inside the isolate: forms as bodies. Loaded when one is sent or read. */
import { world } from "../../boot/world.ts";
import { bytesOf, markedTextOf, textOf } from "./content.ts";
import type { Content } from "./content.ts";

type FileLike = { readonly name: string; readonly type: string; arrayBuffer(): Promise<ArrayBuffer> };
type FormLike = Iterable<[string, string | FileLike]> & { append(name: string, value: unknown, filename?: string): void };

interface Globals {
  FormData: new () => FormLike;
  File: new (parts: unknown[], name: string, options: object) => FileLike;
  URLSearchParams: new (text: string) => Iterable<[string, string]>;
  TextEncoder: new () => { encode(text: string): Uint8Array };
}
const globals = globalThis as unknown as Globals;

let made = 0;

/** The body of a form, and its content type. */
export function multipart(form: unknown): { readonly type: string; bytes(): Promise<Uint8Array> } {
  // A random boundary, so that no file can contain it and end its own part.
  const boundary = `----formdata-creel-${world.seed.slice(0, 16)}${(made++).toString(36)}`;
  const entries = [...(form as FormLike)];
  return { type: `multipart/form-data; boundary=${boundary}`, bytes: () => encoded(entries, boundary) };
}

async function encoded(entries: [string, string | FileLike][], boundary: string): Promise<Uint8Array> {
  const encoder = new globals.TextEncoder();
  const parts: Uint8Array[] = [];
  for (const [name, value] of entries) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(lines(name))}"`;
    if (typeof value === "string") {
      parts.push(encoder.encode(`${head}\r\n\r\n${lines(value)}\r\n`));
      continue;
    }
    const type = value.type === "" ? "application/octet-stream" : value.type;
    parts.push(encoder.encode(`${head}; filename="${quoted(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`));
    parts.push(new Uint8Array(await value.arrayBuffer()), encoder.encode("\r\n"));
  }
  parts.push(encoder.encode(`--${boundary}--\r\n`));
  const all = new Uint8Array(parts.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const one of parts) {
    all.set(one, at);
    at += one.length;
  }
  return all;
}

function lines(text: string): string {
  return text.replaceAll(/\r?\n|\r/g, "\r\n");
}

function quoted(name: string): string {
  return name.replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll('"', "%22");
}

/** Parses a body of this content type as a form. */
export function formOf(content: Content, type: string | undefined): unknown {
  const essence = (type ?? "").split(";")[0]!.trim().toLowerCase();
  const form = new globals.FormData();
  if (essence === "application/x-www-form-urlencoded") {
    for (const [name, value] of new globals.URLSearchParams(markedTextOf(content))) form.append(name, value);
    return form;
  }
  if (essence !== "multipart/form-data")
    throw new TypeError('Content-Type was not one of "multipart/form-data" or "application/x-www-form-urlencoded".');
  const boundary = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type!);
  if (!boundary) throw new TypeError("Failed to parse body as FormData.");
  read(latin1(content), boundary[1] ?? boundary[2]!, form);
  return form;
}

function latin1(content: Content): string {
  if (content.bytes !== undefined) return content.bytes;
  return unescape(encodeURIComponent((content.text ?? "").toWellFormed()));
}

function utf8(text: string): string {
  return textOf({ bytes: text });
}

/** In a string with one character per byte. */
function read(text: string, boundary: string, form: FormLike): void {
  const fault = new TypeError("Failed to parse body as FormData.");
  const mark = `--${boundary}`;
  const start = text.indexOf(mark);
  if (start === -1) throw fault;
  for (let at = start + mark.length; text.slice(at, at + 2) !== "--";) {
    if (text.slice(at, at + 2) !== "\r\n") throw fault;
    const headEnd = text.indexOf("\r\n\r\n", at);
    const end = text.indexOf(`\r\n${mark}`, headEnd + 2);
    if (headEnd === -1 || end === -1) throw fault;
    const head = text.slice(at + 2, headEnd);
    const name = parameter(head, "name");
    if (name === undefined) throw fault;
    const body = text.slice(headEnd + 4, end);
    const filename = parameter(head, "filename");
    if (filename === undefined) form.append(name, utf8(body));
    else {
      const type = /^content-type:[ \t]*(.*)$/im.exec(head)?.[1]?.trim() ?? "text/plain";
      form.append(name, new globals.File([bytesOf({ bytes: body })], filename, { type }));
    }
    at = end + 2 + mark.length;
  }
}

function parameter(head: string, name: string): string | undefined {
  const disposition = /^content-disposition:[ \t]*form-data(.*)$/im.exec(head)?.[1];
  const found = disposition === undefined ? null : new RegExp(`;\\s*${name}="([^"]*)"`, "i").exec(disposition);
  return found ? utf8(found[1]!.replaceAll(/%0a/gi, "\n").replaceAll(/%0d/gi, "\r").replaceAll("%22", '"')) : undefined;
}
