/**
 * Shared: the subjects of a fleet. The account of the server is the tenant, so no subject names one. A host's name is a token of its
 * subjects, and the server's permissions (permissions.ts) hold it to those. It has no dot, star or angle bracket
 * (protocol/config/fleet.ts), so it cannot widen a subject.
 */
export const BUCKETS = { lock: "creel_lock", bundles: "creel_bundles", duties: "creel_duties" } as const;

/** What hosts append to, and operators read. */
export const LOGS = { audit: "creel_audit", quarantine: "creel_quarantine" } as const;

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
  /** An operator releases a plugin from quarantine, on all hosts. */
  release: "creel.release",
  /** What happens in a host, for those who watch now. */
  fact: (host: string, fact: string) => `creel.fact.${host}.${fact}`,
} as const;
