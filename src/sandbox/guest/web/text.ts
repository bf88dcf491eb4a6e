/** Inside the isolate: Web IDL's conversions to text. */

/** DOMString. Throws for a symbol. */
export function str(value: unknown): string {
  return "".concat(value as string);
}

/** USVString, without lone surrogates. */
export function usv(value: unknown): string {
  return str(value).toWellFormed();
}
