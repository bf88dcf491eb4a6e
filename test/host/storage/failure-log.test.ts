/** A full disk is one line in the log per window of time, not one per request. */
import { expect, it } from "vitest";
import { localStores } from "../../../src/host/stores.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { FailureLog } from "../../../src/host/storage/failure-log.ts";
import { GatewayTime } from "../../../src/host/services/gateway-time.ts";
import { Volumes } from "../../../src/host/services/files/volumes.ts";
import type { Plugin } from "../../../src/host/plugins/plugin.ts";
import { folder } from "../../support/files.ts";
import { recorder } from "../../support/host.ts";

it("the first failure is logged, those after it are counted, and the next window logs how many", () => {
  const said: unknown[] = [];
  let nowMs = 0;
  const log = new FailureLog(
    (error, more) => void said.push([error, more]),
    () => nowMs,
  );
  for (let i = 0; i < 283; i++) log.failed(i);
  expect(said).toEqual([[0, {}]]);
  nowMs += LIMITS.log.failureMs;
  log.failed("again");
  log.failed("and again");
  nowMs += LIMITS.log.failureMs;
  log.failed("later");
  expect(said.slice(1)).toEqual([
    ["again", { more: 282 }],
    ["later", { more: 1 }],
  ]);
});

it("a volume that cannot be written is one line, however often it is tried", async () => {
  const { logger, lines } = recorder();
  const stateDir = folder({ volumes: "a file where a folder should be" });
  const volumes = new Volumes({ stores: localStores(stateDir), logger, refused: () => {} });
  const plugin = { id: "p", grants: { fs: true }, home: { cell: 7 }, gatewayTime: new GatewayTime() } as unknown as Plugin;
  const fates = await Promise.all(
    Array.from({ length: 50 }, () => volumes.write(plugin, 7, [["mkdir", "a"]]).catch((error: { code: string }) => error.code)),
  );
  expect(new Set(fates)).toEqual(new Set(["ERR_STORE_FAILED"]));
  expect(lines.filter(({ level }) => level === "error")).toHaveLength(1);
  await volumes.close();
});
