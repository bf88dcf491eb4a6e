/** Build time: `node scripts/guest-build/main.ts` builds the guest, unless that was done before. */
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { CACHE, guestPath } from "./cached.ts";

const path = guestPath();
if (!existsSync(path)) {
  const { buildGuest } = await import("./build.ts");
  mkdirSync(CACHE, { recursive: true });
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, await buildGuest());
  renameSync(unfinished, path);
}
