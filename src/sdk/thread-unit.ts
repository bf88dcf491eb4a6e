/** Trusted side: a lane as a thread of this very process. Simplest and fastest; one V8 abort takes the caller down with it. */
import { setTimeout as sleep } from "node:timers/promises";
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import { GAUGE_BYTES } from "../protocol/gauge.ts";
import { LIMITS } from "../protocol/limits.ts";
import { BELLS_BYTES, portLink } from "../protocol/link.ts";
import { withSlackClocks } from "../host/lanes/timer-slack.ts";
import { portSync } from "../host/lanes/sync-port.ts";
import type { LaneUnit } from "../host/lanes/unit.ts";
import { startPool } from "../sandbox/pool.ts";
import { watchGauges } from "../sandbox/watcher.ts";

export function startThreadUnit(lanes: number): LaneUnit {
  const channels = Array.from({ length: lanes }, () => ({
    main: new MessageChannel(),
    bells: new Int32Array(new SharedArrayBuffer(BELLS_BYTES)),
    sync: new MessageChannel(),
    notify: new Int32Array(new SharedArrayBuffer(4)),
    gauge: new SharedArrayBuffer(GAUGE_BYTES),
  }));
  const pool = withSlackClocks(() =>
    startPool(channels.map(({ main, bells, sync, notify, gauge }) => ({ port: main.port2, bells, syncPort: sync.port2, notify, gauge }))),
  );
  const links = channels.map(({ main, bells }) =>
    portLink(main.port1, { bells: { memory: bells, mine: 0, receive: receiveMessageOnPort } }),
  );
  let stopWatching: (() => void) | undefined;
  const hangUp = (): void => {
    stopWatching?.();
    for (const { main, sync } of channels) {
      main.port1.close();
      sync.port1.close();
    }
  };
  return {
    links,
    syncPorts: channels.map(({ sync, notify }) => portSync(sync.port1, notify)),
    watch: (watcher) => {
      stopWatching = watchGauges(
        channels.map(({ gauge }) => gauge),
        (held) => watcher.held(held),
      );
    },
    ended: pool.ended,
    kill: () => {
      stopWatching?.();
      void pool.destroy();
    },
    close: async () => {
      hangUp();
      // A thread that is terminated while it disposes of isolates can abort the process: let it finish, if it can.
      const patience = new AbortController();
      await Promise.race([pool.ended, sleep(LIMITS.threadEndMs, undefined, { signal: patience.signal }).catch(() => {})]);
      patience.abort();
      await pool.destroy();
    },
  };
}
