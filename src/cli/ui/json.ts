/** JSON that a terminal shows as it is. What plugins answer goes through here. */

// oxlint-disable no-control-regex -- that is the point
/** JSON escapes the old control characters; terminals obey newer ones, too, and letters that turn the direction of a line. */
const ORDERS = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
// oxlint-enable no-control-regex

/** Missing values as null: every key is there. SECURITY: no text of a plugin's colours, moves or forges anything on a screen. test/cli/call.test.ts */
export function printable(value: unknown, indent?: number): string {
  return JSON.stringify(value, (_, field: unknown) => field ?? null, indent).replaceAll(
    ORDERS,
    (character) => String.raw`\u` + character.charCodeAt(0).toString(16).padStart(4, "0"),
  );
}
