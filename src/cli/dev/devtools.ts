/**
 * Opens DevTools for `creel dev`. A browser takes no `devtools://` address from a command line. So one is started with a profile and a
 * debugging port of its own: there it serves its copy of DevTools, which is then let in at the debugger's address.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { InspectAddress } from "../../host/inspect/door.ts";

const BROWSERS = ["google-chrome", "google-chrome-stable", "chromium", "chromium-browser", "microsoft-edge"];
/** Chromium writes its port there. */
const PORT_FILE = "DevToolsActivePort";
const START_MS = 30_000;
const LOOK_MS = 50;

export interface DevTools extends Disposable {
  /** Of the browser. */
  readonly port: number;
}

/** Undefined: there is no such browser, or it did not start. It ends with this process. `closed` is called when the user closes it. */
export async function openDevtools(address: InspectAddress, closed: () => void = () => {}): Promise<DevTools | undefined> {
  const path = browserPath();
  if (path === undefined) return undefined;
  const profile = mkdtempSync(join(tmpdir(), "creel-devtools-"));
  const flags = [`--user-data-dir=${profile}`, "--remote-debugging-port=0", "--no-first-run", "--no-default-browser-check"];
  const child = spawn(path, [...flags, "about:blank"], { stdio: "ignore" });
  child.unref();
  const end = (): void => {
    child.kill();
    rmSync(profile, { recursive: true, force: true, maxRetries: 3 });
  };
  process.once("exit", end);
  const opened = await open(child, profile, address).catch(() => undefined);
  if (opened === undefined) {
    process.off("exit", end);
    end();
    return undefined;
  }
  child.once("exit", closed);
  return {
    port: opened,
    [Symbol.dispose]() {
      process.off("exit", end);
      child.once("exit", end);
      child.kill();
    },
  };
}

/** The first that is found; CHROME_PATH names one. */
function browserPath(): string | undefined {
  const named = process.env.CHROME_PATH;
  if (named) return named;
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.flatMap((folder) => BROWSERS.map((name) => join(folder, name))).find((path) => existsSync(path));
}

/** Gives the browser's port. */
async function open(child: ChildProcess, profile: string, address: InspectAddress): Promise<number | undefined> {
  let hasEnded = false;
  child.once("exit", () => (hasEnded = true)).once("error", () => (hasEnded = true));
  const latest = performance.now() + START_MS;
  let port = 0;
  while (port === 0) {
    if (hasEnded || performance.now() > latest) return undefined;
    await wait(LOOK_MS);
    port = Number((await readFile(join(profile, PORT_FILE), "utf8").catch(() => "")).split("\n")[0]);
  }
  const own = `http://127.0.0.1:${port}`;
  address.admit(own);
  const page = `${own}/devtools/js_app.html?ws=${address.url.slice("ws://".length)}`;
  const { ok } = await fetch(`${own}/json/new?${encodeURIComponent(page)}`, { method: "PUT" });
  return ok ? port : undefined;
}
