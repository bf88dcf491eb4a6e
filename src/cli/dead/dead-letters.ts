/** Trusted side: the dead letters of a state folder, for people. The file may be in use by a host; neither waits for the other. */
import { existsSync } from "node:fs";
import { CreelError } from "../../protocol/errors.ts";
import { Outbox, outboxFile } from "../../host/durable/outbox.ts";
import type { LastFailure } from "../../host/durable/outbox.ts";
import type { DeliveryRow } from "../../host/durable/outbox-tables.ts";

export interface DeadLetter extends Pick<LastFailure, "status" | "why"> {
  readonly seq: number;
  readonly id: string;
  readonly plugin: string;
  readonly hook: string;
  readonly session: string;
  readonly attempts: number;
  readonly madeAt: string;
  readonly diedAt: string;
  readonly event: unknown;
  readonly context: unknown;
}

export interface DeadLetters extends AsyncDisposable {
  /** Throws when there is none of that id. */
  find(id: string | undefined, plugin: string | undefined): Promise<DeadLetter[]>;
  replay(letters: readonly DeadLetter[]): Promise<number>;
  drop(letters: readonly DeadLetter[]): Promise<number>;
}

export function openDeadLetters(stateDir: string): DeadLetters {
  // Looking must not make an outbox.
  const outbox = existsSync(outboxFile(stateDir)) ? new Outbox({ stateDir, onSetAside: () => {}, onFailure: () => {} }) : undefined;
  return {
    find: async (id, plugin) => {
      const all = ((await outbox?.dead()) ?? []).map(letterOf);
      const found = all.filter((one) => (id === undefined || one.id === id) && (plugin === undefined || one.plugin === plugin));
      if (id !== undefined && found.length === 0) throw new CreelError("ERR_OUTBOX_UNKNOWN", { id });
      return found;
    },
    replay: async (letters) => (await outbox?.replay(letters.map(({ seq }) => seq))) ?? 0,
    drop: async (letters) => (await outbox?.drop(letters.map(({ seq }) => seq))) ?? 0,
    [Symbol.asyncDispose]: async () => outbox?.closeIdle(),
  };
}

function letterOf({ seq, id, plugin, hook, session, attempt, made, dead, event, context }: DeliveryRow): DeadLetter {
  const { status, why, at } = JSON.parse(dead!) as LastFailure;
  return {
    seq,
    id,
    plugin,
    hook,
    session,
    attempts: attempt,
    madeAt: new Date(made).toISOString(),
    diedAt: new Date(at).toISOString(),
    status,
    why,
    event: JSON.parse(event) as unknown,
    context: JSON.parse(context) as unknown,
  };
}
