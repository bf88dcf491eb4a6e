/** A gateway that is killed with SIGKILL leaves nothing behind: its sandbox process leaves too, whatever a plugin is doing. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import { isAlive } from "../support/process.ts";
import { familyOf } from "../support/walls.ts";

const GATEWAY = fileURLToPath(new URL("fixtures/gateway.ts", import.meta.url));

it.each(["idle", "loop"])("no orphan is left when the gateway is killed while its plugins are in: %s", async (state) => {
  const gateway = spawn(process.execPath, ["-C", "source", GATEWAY, state], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [line] = (await once(createInterface({ input: gateway.stdout }), "line")) as [string];
    // Including its wrappers.
    const sandbox = (JSON.parse(line) as number[]).flatMap(familyOf);
    expect(sandbox.length).toBeGreaterThan(0);
    expect(sandbox.every(isAlive)).toBe(true);
    const exited = once(gateway, "exit");
    gateway.kill("SIGKILL");
    await exited;
    await vi.waitFor(() => expect(sandbox.filter(isAlive)).toEqual([]), { timeout: 5_000, interval: 20 });
  } finally {
    gateway.kill("SIGKILL");
  }
});
