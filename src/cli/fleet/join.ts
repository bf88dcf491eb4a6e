/** Reads the fleet of a configuration, and joins it as a host or as an operator. */
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { CreelError } from "../../protocol/errors.ts";
import { lockKeyOf, readConfig, stateDirOf } from "../../discovery/config-file.ts";
import { Operator } from "../../fleet/control/operator.ts";
import { Member } from "../../fleet/member.ts";
import { connectNats } from "../../fleet/nats.ts";
import { fleetSettings } from "../../fleet/settings.ts";
import type { FleetSettings } from "../../fleet/settings.ts";
import type { Logger } from "../../host/report/log.ts";
import type { Served } from "../../serve/server.ts";
import { openState } from "../../state/state.ts";
import { version } from "../self.ts";

export async function joinFleet(served: Served, file: string | undefined, logger: Logger): Promise<Member> {
  const config = await readConfig(file);
  const base = file === undefined ? process.cwd() : dirname(resolve(file));
  const settings = await fleetSettings(config, base);
  const dir = stateDirOf(config, base);
  if (dir === undefined) throw new CreelError("ERR_INSTALL_NO_STATE");
  const key = await lockKeyOf(config, base);
  return Member.join({ settings, served, state: openState(dir, key && { key }), config, creel: version(), logger });
}

export interface AsOperator extends AsyncDisposable {
  readonly settings: FleetSettings;
  readonly operator: Operator;
}

/** `waits`: until the hosts that are there have said so. */
export async function asOperator(given: string | undefined, waits = true): Promise<AsOperator> {
  const file = given ?? (existsSync("creel.json") ? "creel.json" : undefined);
  const settings = await fleetSettings(await readConfig(file), file === undefined ? process.cwd() : dirname(resolve(file)));
  const bus = await connectNats(settings);
  const operator = await (waits ? Operator.open(bus) : Operator.listen(bus));
  return { settings, operator, [Symbol.asyncDispose]: () => operator[Symbol.asyncDispose]() };
}
