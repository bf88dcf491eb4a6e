/** One thing the doctor has looked at. What is broken keeps plugins from being run, or from being contained; a warning will, some day. */
export interface Check {
  readonly area: "node" | "isolated-vm" | "config" | "state" | "lock" | "stores" | "socket" | "disk" | "clock";
  readonly status: "ok" | "warn" | "broken";
  readonly what: string;
  /** The file, with the line where that helps. */
  readonly where?: string;
  /** What to do about it. Whatever is not well has one. */
  readonly fix?: string;
}

type Area = Check["area"];

export const ok = (area: Area, what: string): Check => ({ area, status: "ok", what });
export const warn = (area: Area, what: string, fix: string, where?: string): Check => ({
  area,
  status: "warn",
  what,
  fix,
  ...(where !== undefined && { where }),
});
export const broken = (area: Area, what: string, fix: string, where?: string): Check => ({
  ...warn(area, what, fix, where),
  status: "broken",
});
