/** Inside the isolate: text of any value, as Web IDL makes it. */

/** A symbol has none: that throws. */
export function str(value: unknown): string {
  return "".concat(value as string);
}

/** Without halves of characters. */
export function usv(value: unknown): string {
  return str(value).toWellFormed();
}
