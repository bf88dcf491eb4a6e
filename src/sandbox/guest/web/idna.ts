/**
 * Inside the isolate, in the place of tr46 (host/bundler-thin.ts): host names outside ASCII. Nearly all names are plain, and the tables for
 * the others are the largest part of the library: they are a file of their own.
 */
import { part } from "../library.ts";

interface Options {
  readonly checkHyphens: boolean;
}

interface Tables {
  toASCII(domain: string, options: object): string | null;
}

/** As tr46's, with the options that whatwg-url gives it. */
export function toASCII(domain: string, options: Options): string | null {
  // oxlint-disable-next-line no-control-regex -- what is not ASCII is what matters
  const isPlain = !options.checkHyphens && !/[^\0-\x7f]|xn--/i.test(domain);
  if (isPlain) return domain.toLowerCase();
  return (part("web/idna-tables") as unknown as Tables).toASCII(domain, options);
}

/** Only wanted by parts of whatwg-url that are not used. */
export function toUnicode(): never {
  throw new Error("toUnicode is not available");
}
