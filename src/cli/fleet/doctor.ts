/** Examines a fleet for `creel fleet doctor`: the servers, the lock, and whether its hosts agree. Changes nothing. */
import type { Operator } from "../../fleet/control/operator.ts";
import type { FleetSettings } from "../../fleet/settings.ts";
import { consumerOf, EVENTS, SUBJECTS } from "../../fleet/subjects.ts";
import type { CreelError, ErrorCode } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { broken, ok, warn } from "../doctor/check.ts";
import type { Check } from "../doctor/check.ts";

/** Clocks matter for what people compare; nothing of a fleet depends on them. */
const SKEW_MS = 5_000;

export async function examineFleet(operator: Operator, settings: FleetSettings): Promise<Check[]> {
  const { version, maxPayload, isTls, name } = operator.server;
  const hosts = operator.hosts();
  const checks: Check[] = [ok("fleet", `server ${name} has version ${version}`)];
  checks.push(
    maxPayload >= LIMITS.fleet.messageBytes
      ? ok("fleet", `it accepts messages of ${maxPayload} bytes`)
      : broken(
          "fleet",
          `it accepts messages of ${maxPayload} bytes only`,
          `set max_payload of nats-server to ${LIMITS.fleet.messageBytes} or more`,
        ),
  );
  const isLoopback = settings.servers.every((server) => /\/\/(?:127\.|localhost|\[::1\])/.test(server));
  if (!isTls && !isLoopback)
    checks.push(broken("fleet", "the connection is not encrypted", "set tls in nats-server, and tls:// in fleet.servers"));
  checks.push(await replicaCheck(operator, settings.servers.length));
  checks.push(
    (await operator.hasDuties())
      ? ok("fleet", "a cron or a service of a plugin runs on one host at a time")
      : warn(
          "fleet",
          "crons and services of plugins run on every host",
          'run "creel fleet push"; servers with an older accounts.conf need the rights that "creel fleet keys" writes',
        ),
  );
  if (!(await operator.hasNarrowReads()))
    checks.push(
      warn(
        "fleet",
        "the servers' accounts.conf is of an earlier version: with a stolen key of a host, the servers can be made to send orders in an operator's name",
        'take over the rights that "creel fleet keys" writes, and reload the servers',
      ),
    );
  if (settings.isRelayed) checks.push(...(await eventChecks(operator)));
  checks.push(
    hosts.length > 0
      ? ok("fleet", `${hosts.length} hosts are there: ${hosts.map(({ host }) => host).join(", ")}`)
      : warn("fleet", "no host is there", 'start one with "creel serve --fleet"'),
  );
  for (const { host, fault } of hosts)
    if (fault)
      checks.push(
        broken(
          "fleet",
          fault.code === ("ERR_FLEET_LOAD" satisfies ErrorCode)
            ? `${host} has change ${fault.serial}, but ${fault.message}`
            : `${host} refuses change ${fault.serial}: ${fault.message}`,
          "read the message; the host keeps what it had",
        ),
      );
  for (const { host, audit } of hosts)
    if (audit?.why !== undefined)
      checks.push(
        warn(
          "fleet",
          `${host} cannot ship its audit log: ${audit.why}`,
          'run "creel fleet push" with "fleet.audit" set; the host keeps its log meanwhile',
        ),
      );
  const shipping = hosts.filter(({ audit }) => audit !== undefined && audit.why === undefined).length;
  if (shipping > 0) checks.push(ok("fleet", `${shipping} of ${hosts.length} hosts ship their audit log`));
  checks.push(
    ...agreement(
      "change of the lock",
      'run "creel fleet push", and read the log of hosts that stay behind',
      hosts.map(({ host, serial }) => [host, String(serial)]),
    ),
  );
  checks.push(
    ...agreement(
      "configuration",
      "deploy the same creel.json to all hosts",
      hosts.map(({ host, config }) => [host, config]),
    ),
  );
  checks.push(
    ...agreement(
      "version of Creel",
      "install the same version on all hosts",
      hosts.map(({ host, creel }) => [host, creel]),
    ),
  );
  for (const { host, at, heardAt } of hosts)
    if (Math.abs(heardAt - at) > SKEW_MS)
      checks.push(
        warn("fleet", `the clock of ${host} is ${Math.round((at - heardAt) / 1000)} s off`, "let the machine set its clock by NTP"),
      );
  return checks;
}

async function replicaCheck(operator: Operator, servers: number): Promise<Check> {
  const replicas = await operator.replicas();
  if (replicas === undefined) return warn("fleet", "there is no lock yet", 'run "creel fleet push"');
  const wanted = Math.min(3, servers);
  return replicas >= wanted
    ? ok("fleet", `the lock is kept on ${replicas} of ${servers} servers`)
    : warn(
        "fleet",
        `the lock is kept on ${replicas} of ${servers} servers: if that one is lost, so is the lock`,
        `run "nats stream edit KV_creel_lock --replicas ${wanted}"`,
      );
}

/** Durable events that go through the servers. */
async function eventChecks(operator: Operator): Promise<Check[]> {
  const checks: Check[] = [];
  const hosts = operator.hosts();
  const found = await operator.events.backlogs().catch((error: CreelError) => error);
  if (found instanceof Error && found.code === ("ERR_FLEET_FORBIDDEN" satisfies ErrorCode))
    checks.push(
      broken(
        "fleet",
        "the servers' accounts.conf is of an earlier version and gives no rights for durable events: they stay in the outbox of the host that took them",
        'take over the rights that "creel fleet keys" writes, reload the servers, and run "creel fleet push"',
      ),
    );
  else if (found instanceof Error)
    checks.push(broken("fleet", `the servers do not say which durable events wait: ${found.message}`, found.fix));
  else if (found === undefined)
    checks.push(
      broken(
        "fleet",
        "durable events stay in the outbox of the host that took them: the servers have no place for them",
        'run "creel fleet push"',
      ),
    );
  else {
    const waiting = found.reduce((sum, one) => sum + one.waiting + one.unsettled, 0);
    checks.push(ok("fleet", `${waiting} durable events wait on the servers`));
    const listening = new Set(hosts.flatMap(({ events }) => events?.plugins ?? []).map(consumerOf));
    for (const { consumer, waiting: none, unsettled } of found)
      if (none + unsettled > 0 && !listening.has(consumer))
        checks.push(
          warn(
            "fleet",
            `${none + unsettled} durable events wait for ${consumer}, and no host serves that plugin`,
            `enable or install it again; or drop them: "nats stream purge ${EVENTS} --subject '${SUBJECTS.event("*", consumer)}'"`,
          ),
        );
  }
  for (const { host, events } of hosts)
    if (events?.why !== undefined)
      checks.push(
        warn("fleet", `${host} cannot pass on durable events, and keeps those that it has: ${events.why}`, 'run "creel fleet push"'),
      );
    else if (!events)
      checks.push(
        warn(
          "fleet",
          `${host} delivers durable events itself: its configuration does not send them through the servers`,
          "deploy the same creel.json to all hosts",
        ),
      );
  return checks;
}

/** Hosts should say the same. */
function agreement(what: string, fix: string, said: readonly (readonly [string, string])[]): Check[] {
  const values = new Set(said.map(([, value]) => value));
  if (values.size <= 1) return said.length > 1 ? [ok("fleet", `all hosts have the same ${what}`)] : [];
  return [warn("fleet", `hosts differ in their ${what}: ${said.map(([host, value]) => `${host} ${value}`).join(", ")}`, fix)];
}
