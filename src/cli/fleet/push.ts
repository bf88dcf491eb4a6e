/** Makes the fleet's lock equal to the one here, under the operator's signature, and prints a line per host. */
import { familyOf } from "../../protocol/catalog.ts";
import type { CreelConfig } from "../../protocol/config/config.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { LockEntry } from "../../state/lock.ts";
import { readKnownHosts, writeKnownHosts } from "../../fleet/control/known-hosts.ts";
import { readPrivate } from "../../fleet/settings.ts";
import { oneLine } from "../../text/one-line.ts";
import { currentUser, findProject } from "../plugins/project.ts";
import { duration, printableJson } from "../ui/text.ts";
import type { Terminal } from "../ui/terminal.ts";
import { EXIT } from "../verb.ts";
import { asOperator } from "./join.ts";

/** Those that may hear a durable hook. */
function durablePlugins({ hooks, plugins }: CreelConfig, installed: ReadonlyMap<string, LockEntry>): string[] {
  const isDurable = (key: string): boolean => (hooks?.durable ?? []).some((name) => name === key || familyOf(name) === key);
  const isAsked = (id: string): boolean => plugins?.entries?.[id]?.hooks?.durable === true;
  return [...installed.values()]
    .filter((entry) => isAsked(entry.id) || entry.hooks.some(({ hook }) => isDurable(hook)))
    .map(({ id }) => id);
}

interface PushValues {
  readonly config?: string;
  readonly "state-dir"?: string;
  readonly replicas?: string;
}

/** Gives the exit code: a host that has not followed is a failure, and so is a fleet without hosts. */
export async function push(values: PushValues, out: Terminal, isJson = false): Promise<number> {
  const { state, config } = await findProject(values);
  await using joined = await asOperator(values.config, false);
  const { settings, operator } = joined;
  if (settings.signingKey === undefined)
    throw new CreelError("ERR_CONFIG_INVALID", {
      source: "the configuration",
      field: "fleet.signingKey",
      detail: "an operator needs one to sign what is installed",
    });
  const pem = await readPrivate(settings.signingKey, "fleet.signingKey");
  const startedMs = performance.now();
  const expected = readKnownHosts(state.dir, Date.now());
  const replicas = Number(values.replicas ?? Math.min(3, settings.servers.length));
  // First: no host may have a plugin whose events nobody could give it.
  if (settings.isRelayed) {
    await operator.events.make(replicas);
    await operator.events.makeConsumers(durablePlugins(config, await state.read()));
  }
  const pushed = await operator.push(state, settings.operators, pem, currentUser(), replicas);
  await operator.makeQuarantine(replicas);
  await operator.makeDuties(replicas);
  if (settings.auditDays !== undefined) await operator.makeAudit(replicas, settings.auditDays);
  if (settings.isRelayed) {
    // Plugins that hosts have beside the fleet's.
    await operator.present();
    await operator.events.makeConsumers(operator.hosts().flatMap(({ events }) => events?.plugins ?? []));
  }
  if (pushed === undefined) {
    out.line(isJson ? printableJson({ serial: null, hosts: [] }) : "the fleet already has this lock");
    return EXIT.ok;
  }
  const { serial, repaired } = pushed;
  await operator.present();
  const followed = await operator.followed(serial, undefined, Object.keys(expected));
  const tookMs = performance.now() - startedMs;
  for (const { host, heardAt } of operator.hosts()) expected[host] = heardAt;
  writeKnownHosts(state.dir, expected);
  if (isJson) out.line(printableJson({ serial, repaired, tookMs, hosts: followed }, 2));
  else {
    for (const plugin of repaired) out.line(`the server's copy of ${plugin} was not the signed one, and was replaced`);
    for (const { host, isDone, why } of followed)
      out.line(
        isDone
          ? `${out.paint("green", "✓")} ${host} has change ${serial}`
          : `${out.paint("red", "✗")} ${host} has not followed: ${oneLine(why ?? "", 400)}`,
      );
    const done = followed.filter(({ isDone }) => isDone).length;
    out.line(
      followed.length === 0
        ? `${out.paint("red", "✗")} change ${serial} is signed and stored, but no host of the fleet is there; hosts follow when they are`
        : out.paint(
            "gray",
            `${done} of ${followed.length} hosts follow change ${serial}, after ${duration(tookMs)}; hosts that are away follow when they are back`,
          ),
    );
  }
  return followed.length > 0 && followed.every(({ isDone }) => isDone) ? EXIT.ok : EXIT.failed;
}
