/** Inside the isolate: text without halves of characters, as Web IDL wants it in most places. */
export function usv(value: unknown): string {
  return String(value).toWellFormed();
}
