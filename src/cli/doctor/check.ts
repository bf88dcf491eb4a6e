/** The result of one check. `broken`: plugins cannot run, or are not contained. `warn`: this may break later. */
export interface Check {
  readonly area: "node" | "isolated-vm" | "config" | "state" | "lock" | "stores" | "socket" | "disk" | "clock" | "fleet";
  readonly status: "ok" | "warn" | "broken";
  readonly what: string;
  /** The file, with the line where that helps. */
  readonly where?: string;
  /** How to fix it. Every warning and every broken check has one. */
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
