/** For `npm run compat`: what a plugin's diagnostics say about modules that are missing. */

export const QUIET = { trace() {}, debug() {}, info() {}, warn() {}, error() {}, fatal() {} };

export function absentOf(diagnostics: readonly string[]): string[] {
  return diagnostics.flatMap((text) => /^will not work here: ([^,:]+)/.exec(text)?.[1] ?? []);
}
