/** Drawings as text: elements, escaped, and the page they stand on. Small numbers of decimals keep the files small. */

type Value = string | number;
export type Attributes = Readonly<Record<string, Value | undefined>>;

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export function escaped(text: string): string {
  // oxlint-disable-next-line no-control-regex -- XML has no way to write them
  return text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "").replaceAll(/[&<>"']/g, (character) => ESCAPES[character]!);
}

/** `inside` is markup: texts go through `label` or `escaped`. */
export function element(name: string, attributes: Attributes, inside = ""): string {
  const written = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [` ${key}="${typeof value === "number" ? fixed(value) : escaped(value)}"`],
  );
  return inside === "" ? `<${name}${written.join("")}/>` : `<${name}${written.join("")}>${inside}</${name}>`;
}

function fixed(value: number): string {
  return Number(value.toFixed(1)).toString();
}

/** A text at a place; cut when it has no room, and whole when one points at it. */
export function label(text: string, x: number, y: number, attributes: Attributes & { readonly room?: number } = {}): string {
  const { room, ...rest } = attributes;
  const shown = room === undefined ? text : cut(text, room);
  return element("text", { x, y, ...rest }, `${escaped(shown)}${shown === text ? "" : element("title", {}, escaped(text))}`);
}

/** No font is asked: letters of a sans-serif are a little over half as wide as the font is high. */
const LETTER = 0.55;
export const FONT = 12;

export function widthOf(text: string, size = FONT): number {
  return text.length * size * LETTER;
}

function cut(text: string, room: number): string {
  const letters = Math.floor(room / (FONT * LETTER));
  return text.length <= letters ? text : `${text.slice(0, letters - 1).trimEnd()}…`;
}

export function path(points: readonly (readonly [x: number, y: number])[], attributes: Attributes): string {
  return element("path", { d: points.map(([x, y], at) => `${at === 0 ? "M" : "L"}${fixed(x)} ${fixed(y)}`).join(""), ...attributes });
}
