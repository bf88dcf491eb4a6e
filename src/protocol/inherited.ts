/** Which file descriptors a sandbox process inherits, beside stdio. The host's spawn call and the child agree on it here. */
export const CONTROL_FD = 3;
export const laneFd = (lane: number): number => CONTROL_FD + 1 + lane;
