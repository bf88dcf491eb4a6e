/**
 * Trusted side: a lane as a thread of the gateway's own process. Simplest and fastest, but one V8 abort takes the
 * gateway down. This is the one place where the host imports the sandbox, and only when a gateway asks for threads.
 */
// oxlint-disable no-restricted-imports -- see above
import { setTimeout as sleep } from "node:timers/promises";
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import { LANE_STATUS_BYTES } from "../../../transport/lane-status.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import { PORT_SIGNALS_BYTES, portLink } from "../../../transport/link.ts";
import { withTimerSlack } from "../../../os/timer-slack.ts";
import { portSync } from "../sync/sync-port.ts";
import type { LaneUnit, StartUnit } from "../unit.ts";
import type { startPool as StartPool } from "../../../sandbox/process/pool.ts";
import type { StallDetector, startStallDetector as StartStallDetector } from "../../../sandbox/process/stall-detector.ts";

/** Loads the sandbox. Gives the function that starts a unit. */
export async function threadUnits(): Promise<StartUnit> {
  const [{ startPool }, { startStallDetector }] = await Promise.all([
    import("../../../sandbox/process/pool.ts"),
    import("../../../sandbox/process/stall-detector.ts"),
  ]);
  return (lanes) => startThreadUnit(lanes, startPool, startStallDetector);
}

function startThreadUnit(lanes: number, startPool: typeof StartPool, startStallDetector: typeof StartStallDetector): LaneUnit {
  const channels = Array.from({ length: lanes }, () => ({
    main: new MessageChannel(),
    signals: new Int32Array(new SharedArrayBuffer(PORT_SIGNALS_BYTES)),
    sync: new MessageChannel(),
    notify: new Int32Array(new SharedArrayBuffer(4)),
    laneStatus: new SharedArrayBuffer(LANE_STATUS_BYTES),
  }));
  const pool = withTimerSlack(() =>
    startPool(
      channels.map(({ main, signals, sync, notify, laneStatus }) => ({
        port: main.port2,
        signals,
        syncPort: sync.port2,
        notify,
        laneStatus,
      })),
    ),
  );
  const links = channels.map(({ main, signals }) =>
    portLink(main.port1, { signals: { memory: signals, mine: 0, receive: receiveMessageOnPort } }),
  );
  let watching: StallDetector | undefined;
  const hangUp = (): void => {
    watching?.stop();
    for (const { main, sync } of channels) {
      main.port1.close();
      sync.port1.close();
    }
  };
  return {
    links,
    syncPorts: channels.map(({ sync, notify }) => portSync(sync.port1, notify)),
    observe: (events) => {
      watching = startStallDetector(
        channels.map(({ laneStatus }) => laneStatus),
        // Memory growth is not reported: it is the gateway's own process.
        (seen) => seen.kind === "stalled" && events.stalled(seen),
      );
    },
    ended: pool.ended,
    kill: () => {
      watching?.stop();
      void pool.destroy();
    },
    close: async () => {
      hangUp();
      // Terminating a thread while it disposes of isolates can abort the process, so let it finish if it can.
      const waiting = new AbortController();
      await Promise.race([pool.ended, sleep(LIMITS.sandbox.threadEndMs, undefined, { signal: waiting.signal }).catch(() => {})]);
      waiting.abort();
      await pool.destroy();
    },
  };
}
