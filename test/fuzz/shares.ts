/** The fuzzers, and the part of the whole time that each has. They add up to 1. */
export const SHARES = {
  /** Frames of a sandbox, to a whole gateway. */
  gateway: 0.25,
  /** Frames of a sandbox, to its lane's client. */
  lane: 0.15,
  /** Bytes on a lane's socket. */
  framing: 0.05,
  /** Frames of a client of `creel serve`. */
  serve: 0.15,
  manifests: 0.1,
  configs: 0.1,
  archives: 0.1,
  /** What plugins ask for and users answer. */
  approvals: 0.05,
  /** Mail of a guest. */
  mail: 0.05,
} as const;

export type FuzzerName = keyof typeof SHARES;
