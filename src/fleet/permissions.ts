/**
 * Shared: the configuration of nats-server for a fleet: one account per tenant, one nkey per member, and what each may do. `creel fleet keys`
 * writes it and the tests start servers with it, so that what is documented is what was tried. No host may create a consumer: with one, it
 * could make the server send messages of its choice to subjects that it may not publish itself. An answer goes to any subject, too: so no
 * answer that a host may ask for is a bare message that a host has written, but for events, which keep their own subject on the way.
 */
import { BUCKETS, EVENTS, LOGS, SUBJECTS } from "./subjects.ts";

export type Role = "host" | "gateway" | "operator";

export interface Member {
  readonly name: string;
  readonly role: Role;
  /** The public nkey. */
  readonly nkey: string;
}

export interface ServerConfigOptions {
  /** By tenant. */
  readonly accounts: Readonly<Record<string, readonly Member[]>>;
}

/** What a member may publish and subscribe. */
function permissionsOf({ name, role }: Pick<Member, "name" | "role">): {
  publish: string[];
  subscribe: string[];
  responds: boolean;
} {
  const inbox = `_INBOX_${name}.>`;
  // SECURITY: what hosts may write is never read directly: the bare answer could be sent to any subject. test/fleet/permissions.test.ts
  const reads = Object.values(BUCKETS).flatMap((bucket) => [
    bucket === BUCKETS.duties ? `$JS.API.STREAM.MSG.GET.KV_${bucket}` : `$JS.API.DIRECT.GET.KV_${bucket}.>`,
    `$JS.API.STREAM.INFO.KV_${bucket}`,
  ]);
  if (role === "host")
    return {
      publish: [
        // Who is in quarantine, all hosts read.
        `$JS.API.STREAM.MSG.GET.${LOGS.quarantine}`,
        SUBJECTS.here(name),
        SUBJECTS.fact(name, "*"),
        SUBJECTS.audit(name),
        SUBJECTS.quarantine(name),
        SUBJECTS.ask("*", name),
        // Who runs a cron or a service: the one thing that hosts write together.
        `$KV.${BUCKETS.duties}.>`,
        // Durable events: its own go in; any host takes those of any plugin out, and says so. What it gives up, it keeps in its own name.
        SUBJECTS.event(name, "*"),
        `$JS.API.CONSUMER.MSG.NEXT.${EVENTS}.*`,
        `$JS.ACK.${EVENTS}.>`,
        SUBJECTS.dead(name),
        ...reads,
      ],
      subscribe: [
        inbox,
        SUBJECTS.control(name),
        SUBJECTS.run(name, "*"),
        SUBJECTS.ping(name),
        SUBJECTS.who,
        SUBJECTS.changed,
        SUBJECTS.quarantine("*"),
        SUBJECTS.release,
      ],
      responds: true,
    };
  // It has no right to the lock: a stolen key of a gateway can run hooks of its tenant, and install nothing.
  if (role === "gateway")
    return {
      publish: [SUBJECTS.run("*", name), SUBJECTS.ping("*"), SUBJECTS.who],
      subscribe: [inbox, SUBJECTS.here("*"), SUBJECTS.ask(name, "*")],
      responds: true,
    };
  // No right to delete from logs: what hosts have written stays until it is old.
  const logs = Object.values(LOGS).flatMap((log) => [`$JS.API.STREAM.MSG.GET.${log}`, `$JS.API.STREAM.CREATE.${log}`]);
  const writes = Object.values(BUCKETS).flatMap((bucket) => [`$KV.${bucket}.>`, `$JS.API.STREAM.CREATE.KV_${bucket}`]);
  // Events that were given up are delivered again, or dropped.
  const events = [
    SUBJECTS.event(name, "*"),
    `$JS.API.STREAM.CREATE.${EVENTS}`,
    `$JS.API.CONSUMER.CREATE.${EVENTS}.>`,
    `$JS.API.CONSUMER.LIST.${EVENTS}`,
    `$JS.API.STREAM.MSG.DELETE.${LOGS.dead}`,
  ];
  return {
    publish: [
      SUBJECTS.control("*"),
      SUBJECTS.who,
      SUBJECTS.changed,
      SUBJECTS.release,
      "$JS.API.INFO",
      ...reads,
      ...writes,
      ...logs,
      ...events,
    ],
    subscribe: [inbox, SUBJECTS.here("*"), SUBJECTS.fact("*", "*")],
    responds: false,
  };
}

/** The accounts part of a nats-server configuration. */
export function accountsConfig({ accounts }: ServerConfigOptions): string {
  return `accounts: {\n${Object.entries(accounts).map(account).join("\n")}\n}\n`;
}

function list(subjects: readonly string[]): string {
  return `[${subjects.map((subject) => JSON.stringify(subject)).join(", ")}]`;
}

function user(member: Member): string {
  const { publish, subscribe, responds } = permissionsOf(member);
  // A run may wait for a person.
  const answers = responds ? ', allow_responses: { max: 1, expires: "1h" }' : "";
  return `      { nkey: ${member.nkey}, permissions: { publish: { allow: ${list(publish)} }, subscribe: { allow: ${list(subscribe)} }${answers} } } # ${member.role} ${member.name}`;
}

function account([name, members]: readonly [string, readonly Member[]]): string {
  return `  ${name}: {\n    jetstream: enabled\n    users: [\n${members.map(user).join("\n")}\n    ]\n  }`;
}
