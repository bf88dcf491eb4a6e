/**
 * Trusted side: which ids a plugin may be installed with, and which other ids they resemble. Ids are ASCII
 * (protocol/rules/plugin-id.ts), so letters of other scripts are refused; similar ASCII ids are reported only, since
 * they may be legitimate.
 */
import { CreelError } from "../../protocol/errors.ts";
import { pluginId } from "../../protocol/rules/plugin-id.ts";
import { DEVICE } from "../archive/entry-rules.ts";
import { printableAscii } from "../../text/printable.ts";

export interface Lookalike {
  /** The installed plugin. */
  readonly id: string;
  /** The end of a sentence that begins with the new id. */
  readonly why: string;
}

/** An id is a folder's name and an object's key. */
const TAKEN = new Set(["node_modules", ...Object.getOwnPropertyNames(Object.prototype)].map((name) => name.toLowerCase()));

/** Letters that look like ASCII letters, beyond Unicode's compatibility variants. */
const HOMOGLYPHS: Record<string, string> = Object.fromEntries(
  [
    ["a", "аɑα"],
    ["b", "ЬƄВΒ"],
    ["c", "сϲС"],
    ["d", "ԁɗ"],
    ["e", "еҽєЕΕ"],
    ["g", "ɡց"],
    ["h", "һհНΗ"],
    ["i", "іıιІΙ"],
    ["j", "јϳ"],
    ["k", "кκКΚ"],
    ["l", "ӏǀ"],
    ["m", "мМΜ"],
    ["n", "ոпΝ"],
    ["o", "оοօОΟ"],
    ["p", "рρРΡ"],
    ["q", "ԛզ"],
    ["r", "гᴦ"],
    ["s", "ѕЅꜱ"],
    ["t", "тτТΤ"],
    ["u", "υսц"],
    ["v", "ѵνⅴ"],
    ["w", "ԝաѡ"],
    ["x", "хχХΧ"],
    ["y", "уγΥУ"],
    ["z", "ᴢΖ"],
    ["-", "‐‑‒–—−"],
  ].flatMap(([ascii, others]) => Array.from(others!, (other) => [other, ascii!])),
);

/** Character sequences that look alike, without case and separators. */
const LOOK_ALIKES: [seen: RegExp, read: string][] = [
  [/rn/g, "m"],
  [/vv/g, "w"],
  [/cl/g, "d"],
  [/0/g, "o"],
  [/[1i]/g, "l"],
  [/2/g, "z"],
  [/3/g, "e"],
  [/4/g, "a"],
  [/5/g, "s"],
  [/[69q]/g, "g"],
  [/7/g, "t"],
  [/8/g, "b"],
];

/** Shorter names have too many neighbours for a warning to say anything. */
const SHORTEST = 4;

/** The id, if a plugin may be installed under it. */
export function checkedInstallId(id: string): string {
  const refuse = (detail: string): CreelError => new CreelError("ERR_INSTALL_ID", { plugin: printableAscii(id), detail });
  const foreign = foreignLetter(id);
  if (foreign) throw refuse(foreign);
  if (!pluginId.safeParse(id).success) throw refuse("it may have letters, digits, dots, dashes and underscores, optionally after @scope/");
  for (const part of id.replace(/^@/, "").split("/")) {
    if (TAKEN.has(part.toLowerCase())) throw refuse(`"${part}" is reserved in JavaScript or npm`);
    if (DEVICE.test(part)) throw refuse(`"${part}" is a device on Windows`);
    if (part.endsWith(".") || part.includes("..")) throw refuse("it has too many dots");
  }
  return id;
}

/** The installed plugins with a similar id, the most similar first. */
export function lookalikes(id: string, installed: readonly string[]): Lookalike[] {
  const found = installed.flatMap((other) => {
    const rank = id === other ? -1 : ALIKE.findIndex(({ holds }) => holds(id, other));
    return rank < 0 ? [] : [{ id: other, why: ALIKE[rank]!.why, rank }];
  });
  return found.toSorted((a, b) => a.rank - b.rank).map(({ id: other, why }) => ({ id: other, why }));
}

/** From the most to the least deliberate; the first match is reported. */
const ALIKE: { readonly why: string; readonly holds: (id: string, other: string) => boolean }[] = [
  { why: "differs only in letters of another script", holds: (id, other) => isForeign(id) && latin(id) === latin(other) },
  { why: "differs only in upper and lower case", holds: (id, other) => id.toLowerCase() === other.toLowerCase() },
  { why: "differs only in dashes, dots and underscores", holds: (id, other) => bare(id) === bare(other) && scopeOf(id) === scopeOf(other) },
  { why: "has the same name in another scope", holds: (id, other) => bare(nameOf(id)) === bare(nameOf(other)) },
  { why: "has the other's scope as a part of its name", holds: (id, other) => bare(id) === bare(other) },
  { why: "differs only in characters that look alike", holds: (id, other) => lookalikeKey(id) === lookalikeKey(other) },
  {
    why: "has a name that looks the same, in another scope",
    holds: (id, other) => lookalikeKey(nameOf(id)) === lookalikeKey(nameOf(other)),
  },
  { why: "differs in one letter", holds: (id, other) => isNear(plain(id), plain(other)) },
];

const scopeOf = (id: string): string => /^@([^/]*)\//.exec(id)?.[1] ?? "";
const nameOf = (id: string): string => id.replace(/^@[^/]*\//, "");
const isForeign = (id: string): boolean => /[^\x20-\x7E]/.test(id);
const latin = (id: string): string =>
  Array.from(id.normalize("NFKC"), (char) => HOMOGLYPHS[char] ?? char)
    .join("")
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "");
const plain = (id: string): string => latin(id).toLowerCase();
const bare = (id: string): string => plain(id).replaceAll(/[-_.@/]/g, "");

function lookalikeKey(id: string): string {
  return LOOK_ALIKES.reduce((text, [seen, read]) => text.replaceAll(seen, read), bare(id));
}

/** One letter more, less, or another one, or two neighbours swapped. */
function isNear(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (short.length < SHORTEST || long.length - short.length > 1) return false;
  let at = 0;
  while (at < short.length && short[at] === long[at]) at++;
  if (short.length < long.length) return short.slice(at) === long.slice(at + 1);
  const isSwap = short[at] === long[at + 1] && short[at + 1] === long[at] && short.slice(at + 2) === long.slice(at + 2);
  return isSwap || short.slice(at + 1) === long.slice(at + 1);
}

/** Describes the first letter that is not ASCII. */
function foreignLetter(id: string): string | undefined {
  const char = Array.from(id).find(isForeign);
  if (char === undefined) return undefined;
  const code = `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
  const script = SCRIPTS.find(([, pattern]) => pattern.test(char))?.[0];
  const read = latin(char);
  const seen = read !== char && /^[\x21-\x7E]+$/.test(read) ? `, which looks like "${read}"` : "";
  return `it has ${code}${script ? `, of the ${script} script` : ""}${seen}`;
}

const SCRIPTS: [script: string, pattern: RegExp][] = [
  "Cyrillic",
  "Greek",
  "Armenian",
  "Hebrew",
  "Arabic",
  "Cherokee",
  "Han",
  "Hangul",
  "Hiragana",
  "Katakana",
].map((script) => [script, new RegExp(`\\p{Script=${script}}`, "u")]);
