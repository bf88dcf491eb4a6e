/** Durable events over `connect`: `kept` means kept by the host, and a host that restarts misses none. */
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { openHost } from "creel";
import { DurableEmits } from "../../src/sdk/remote/durable-emits.ts";
import { CreelError } from "../../src/protocol/errors.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import { sessionEndEvent } from "../../src/sdk/gateway/session-events.ts";
import { folder, QUICK } from "../support/files.ts";
import { plugin, silent } from "../support/host.ts";
import { served, socketPath } from "../support/serve.ts";

const end = (n: number) => sessionEndEvent({ sessionId: "s", sessionKey: "k", metadata: { n } });
const away = (): Promise<never> => Promise.reject(new CreelError("ERR_SERVE_CONNECT", { path: "p", detail: "away" }));
const PLUGINS = [plugin("hearer", `api.on("session:end", (e, ctx) => console.log(e.context.metadata.n, ctx.delivery.id));`)];

it("events that are emitted while the served host is away reach it in order when it is back, and only then are kept", async () => {
  const stateDir = join(folder({}, QUICK), "state");
  const socket = socketPath();
  const config = { stateDir, hooks: { durable: ["session:end"] }, sandbox: { spare: false, walls: "none" as const } };
  const first = await served({ plugins: PLUGINS, config, socket });
  await using host = await openHost({ connect: first.socket, logger: silent });
  await host.emit("session:end", end(0))?.kept;
  await expect(host.emit("session:end", {} as never)?.kept).rejects.toMatchObject({ code: "ERR_EVENT_INVALID" });
  await first.close();
  let keptCount = 0;
  const kept = [1, 2, 3].map((n) => host.emit("session:end", end(n), {}, { id: `mine-${n}` })!.kept.then(() => (keptCount += 1)));
  await new Promise((resolve) => setImmediate(resolve));
  expect(keptCount).toBe(0);
  const second = await served({ plugins: PLUGINS, config, socket });
  const texts: string[] = [];
  second.host.on("log", ({ text }) => void texts.push(text));
  await Promise.all(kept);
  await vi.waitFor(() => expect(texts.slice(-3)).toEqual(["1 mine-1", "2 mine-2", "3 mine-3"]), 10_000);
  await second.close();
});

it("what waits is bounded, and rejects when the gateway closes the host", async () => {
  const emits = new DurableEmits({ request: away, isClosed: false }, silent);
  const large = "x".repeat(LIMITS.outbox.unsentBytes / 2);
  const waits = emits.emit({ hook: "session:end", event: large, ctx: {} }, undefined).kept;
  const full = emits.emit({ hook: "session:end", event: large, ctx: {} }, undefined).kept;
  await expect(full).rejects.toMatchObject({ code: "ERR_OUTBOX_FULL" });
  await Promise.resolve();
  await emits.close();
  await expect(waits).rejects.toMatchObject({ code: "ERR_HOST_CLOSED" });
  await expect(emits.emit({ hook: "session:end", event: 1, ctx: {} }, undefined).kept).rejects.toMatchObject({ code: "ERR_HOST_CLOSED" });
});
