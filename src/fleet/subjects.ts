/**
 * Shared: the subjects of a fleet. The account of the server is the tenant, so no subject names one. A host's name is a token of its
 * subjects, and the server's permissions (permissions.ts) hold it to those. It has no dot, star or angle bracket
 * (protocol/config/fleet.ts), so it cannot widen a subject.
 */
import { createHash } from "node:crypto";

export const BUCKETS = { lock: "creel_lock", bundles: "creel_bundles", duties: "creel_duties" } as const;

/** What hosts append to, and operators read. */
export const LOGS = { audit: "creel_audit", quarantine: "creel_quarantine", dead: "creel_dead" } as const;

/** Durable events on their way from one host to any host, one message for each plugin that listens. */
export const EVENTS = "creel_events";

/** A plugin's consumer of it, and the last part of its subjects: an id may have characters that they cannot. */
export function consumerOf(plugin: string): string {
  if (/^[A-Za-z0-9_-]{1,100}$/.test(plugin)) return `p_${plugin}`;
  return `h_${createHash("sha256").update(plugin).digest("hex").slice(0, 32)}`;
}

/**
 * The member in whose name a stored message is; undefined: in nobody's. SECURITY: the server stores what a host has it send to a log's subject, but
 * under the subject that it had before. test/fleet/permissions.test.ts
 */
export function writerOf(subject: string, kind: "audit" | "quarantine" | "dead"): string | undefined {
  const [root, is, name, ...more] = subject.split(".");
  return root === "creel" && is === kind && more.length === 0 ? name : undefined;
}

export const SUBJECTS = {
  /** An operator asks this host. */
  control: (host: string) => `creel.host.${host}.control`,
  /** A gateway has this host judge a run. The server holds each gateway to its own name, so nobody is asked about another's runs. */
  run: (host: string, gateway: string) => `creel.host.${host}.run.${gateway}`,
  /** Asks this host whether it lives. */
  ping: (host: string) => `creel.host.${host}.ping`,
  /** A host asks the gateway that made a run. */
  ask: (gateway: string, host: string) => `creel.gateway.${gateway}.ask.${host}`,
  /** A host says that it is there, and how it is. */
  here: (host: string) => `creel.here.${host}`,
  /** Asks all hosts to say so at once. */
  who: "creel.who",
  /** An operator has changed what is installed. */
  changed: "creel.changed",
  /** Lines of this host's audit log. */
  audit: (host: string) => `creel.audit.${host}`,
  /** A plugin that this host has quarantined for good. */
  quarantine: (host: string) => `creel.quarantine.${host}`,
  /** This member's event for a plugin, by its consumer. */
  event: (member: string, consumer: string) => `creel.event.${member}.${consumer}`,
  /** An event that this host has given up. */
  dead: (host: string) => `creel.dead.${host}`,
  /** An operator releases a plugin from quarantine, on all hosts. */
  release: "creel.release",
  /** What happens in a host, for those who watch now. */
  fact: (host: string, fact: string) => `creel.fact.${host}.${fact}`,
} as const;
