/**
 * Inside the isolate, instead of tr46 (scripts/guest-build/thin.ts): host names outside of ASCII. Nearly all names are
 * ASCII, and the tables for the others are the largest part of the library, so they are a file of their own.
 */
import { part } from "../../boot/library.ts";

interface Options {
  readonly checkHyphens: boolean;
}

interface Tables {
  toASCII(domain: string, options: object): string | null;
}

/** As tr46's function, with the options that whatwg-url passes. */
export function toASCII(domain: string, options: Options): string | null {
  // oxlint-disable-next-line no-control-regex -- what is not ASCII is what matters
  const isPlain = !options.checkHyphens && !/[^\0-\x7f]|xn--/i.test(domain);
  if (isPlain) return domain.toLowerCase();
  return (part("web/url/idna-tables") as unknown as Tables).toASCII(domain, options);
}

/** Only imported by parts of whatwg-url that are not used. */
export function toUnicode(): never {
  throw new Error("toUnicode is not available");
}
