/**
 * Characters that people do not see but that terminals, editors or readers obey: controls, line breaks of any kind,
 * marks that change the direction of a line, have no width or change the character before them, tags, and unassigned
 * characters. This is the only list of them. All code that shows third-party text, or lets a third party name
 * something, uses it.
 */
export const DANGEROUS = String.raw`\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}\p{Default_Ignorable_Code_Point}`;

const ANY = new RegExp(`[${DANGEROUS}]`, "u");
/** Text that is only shown may have the variation selector that makes a character an emoji. */
const RUNS = new RegExp(String.raw`(?:(?!(?<=\p{Emoji})\uFE0F)[${DANGEROUS}])+`, "gu");
/** JSON escapes controls itself. A line feed in it is its own layout. */
const IN_JSON = new RegExp(String.raw`(?!\n)[${DANGEROUS}]`, "gu");
const HARMLESS = /^[\u0020-\u007e]*$/;

/** For a schema: text without any of them. */
export const NO_DANGER = new RegExp(`^[^${DANGEROUS}]*$`, "u");

export function isDangerous(text: string): boolean {
  return !HARMLESS.test(text) && ANY.test(text);
}

/** Replaces each run of them by one blank. */
export function withoutDanger(text: string): string {
  return HARMLESS.test(text) ? text : text.replaceAll(RUNS, " ");
}

/** Equivalent JSON in which all of them are escaped. */
export function escapeInJson(json: string): string {
  return json.replaceAll(IN_JSON, (found) => Array.from({ length: found.length }, (_, at) => unit(found, at)).join(""));
}

function unit(text: string, at: number): string {
  return String.raw`\u` + text.charCodeAt(at).toString(16).padStart(4, "0");
}
