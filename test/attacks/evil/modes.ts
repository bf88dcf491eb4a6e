/** What the hostile program in the place of our sandbox process can do, and what has to become of it. */
export const MODES = {
  /** `refused`: the result is its plugin's failure, and the process goes on. `replaced`: the process is. */
  "a million keys": "refused",
  "keys within the bytes": "refused",
  "a deep result": "refused",
  "a long result": "refused",
  "a flood of volumes": "replaced",
  "a flood of questions": "replaced",
  "a flood of unread answers": "replaced",
  "a flood of log lines": "replaced",
  "a flood of replies": "replaced",
  "a flood of parts": "replaced",
  "a flood of rings": "replaced",
  "a flood of loads": "replaced",
  "a flood of beats": "replaced",
  "a flood of late answers": "replaced",
  "a flood of last words": "replaced",
  "crumbs on the lane's link": "replaced",
  "crumbs on the caller's link": "replaced",
  "crumbs on the control link": "replaced",
  "a frame that is too long": "replaced",
  "nothing is read": "replaced",
  "a link is closed": "replaced",
  garbage: "replaced",
  "garbage of the fuzzer": "replaced",
} as const;
export type Mode = keyof typeof MODES;
