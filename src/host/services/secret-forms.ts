/**
 * Trusted side: the forms in which a server may give a secret back: as it is, in another case, inside JSON, HTML, a URL, base64, hexadecimal or
 * UTF-16. Redaction looks for all of them. It is meant for servers that echo, not for one that conspires with a plugin: such a
 * server was told the secret, and can say it in a way that nobody foresaw.
 */

export interface Form {
  readonly bytes: Buffer;
  /** In base64 the first or last character may be half the secret's: one more is taken away on that side, if it is one. */
  readonly before: boolean;
  readonly after: boolean;
}

export function formsOf(secret: string): Form[] {
  const texts = new Set<string>();
  // Header values travel as Latin-1, and a secret is ASCII: see protocol/secret-config.ts.
  for (const text of [
    secret,
    secret.toLowerCase(),
    secret.toUpperCase(),
    ...inJson(secret),
    ...inUrl(secret),
    ...inHtml(secret),
    ...inHex(secret),
  ])
    texts.add(text);
  const wide = Buffer.from(secret, "utf16le");
  const forms = [...[...texts].map((text) => Buffer.from(text, "latin1")), wide, Buffer.from(wide).swap16()].map((bytes) => ({
    bytes,
    before: false,
    after: false,
  }));
  return [...forms, ...inBase64(secret)];
}

/** As Go and PHP write what could end a script element, in either case. */
function careful(json: string): string {
  return json.replaceAll(/[<>&']/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);
}

function upper(json: string): string {
  return json.replaceAll(/\\u00../g, (escape) => `\\u${escape.slice(2).toUpperCase()}`);
}

function inJson(secret: string): string[] {
  const plain = JSON.stringify(secret).slice(1, -1);
  const solidus = plain.replaceAll("/", "\\/");
  const written = [plain, solidus, careful(plain), careful(solidus)];
  // JSON in JSON.
  return [...written, ...written.map(upper), JSON.stringify(plain).slice(1, -1)];
}

function inUrl(secret: string): string[] {
  const component = encodeURIComponent(secret);
  const strict = component.replaceAll(/[!'()*]/g, (c) => percent(c));
  const form = new URLSearchParams([["", secret]]).toString().slice(1);
  const path = encodeURI(secret);
  const every = secret.replaceAll(/./g, (c) => percent(c));
  return [component, strict, form, path, every].flatMap((text) => [text, text.replaceAll(/%[\dA-F]{2}/g, (c) => c.toLowerCase())]);
}

function percent(c: string): string {
  return `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
}

function inHtml(secret: string): string[] {
  const common = secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  return [common, common.replaceAll("'", "&#39;"), common.replaceAll("'", "&#x27;"), common.replaceAll("&quot;", "&#34;")];
}

function inHex(secret: string): string[] {
  const hex = Buffer.from(secret, "latin1").toString("hex");
  return [hex, hex.toUpperCase()];
}

/** What the secret looks like in the middle of a longer text, by how many bytes of it come before in a group of three. */
function inBase64(secret: string): Form[] {
  const found = new Map<string, Form>();
  for (const lead of [0, 1, 2]) {
    const bytes = Buffer.concat([Buffer.alloc(lead), Buffer.from(secret, "latin1")]);
    const from = Math.ceil((lead * 8) / 6);
    const to = Math.floor((bytes.length * 8) / 6);
    for (const encoding of ["base64", "base64url"] as const) {
      const text = bytes.toString(encoding).slice(from, to);
      found.set(text, { bytes: Buffer.from(text), before: lead > 0, after: bytes.length % 3 > 0 });
    }
  }
  return [...found.values()];
}
