/** Makes `dist/`: JavaScript and declarations by tsc, and the guest bootstrap as one script. */
import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { bundleGuest } from "../src/host/guest-code.ts";

rmSync("dist", { recursive: true, force: true });
execFileSync("tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit", shell: process.platform === "win32" });
writeFileSync("dist/sandbox/guest.bundle.js", await bundleGuest());
