/** The version of the protocol of `creel serve`. A file of its own, so that `creel hook` starts without zod. */
export const SERVE_PROTOCOL = 2;
