/**
 * Trusted side: sessions. A patch, whoever asks for it, goes through the gateway's own function; when that has succeeded
 * `session:patch` is emitted, and nobody waits for its handlers.
 */
import * as z from "zod";
import { CreelError } from "../../protocol/errors.ts";
import { sessionPatchParams } from "../../protocol/hooks/session.ts";
import type { Chain, Causes } from "../causes.ts";
import { firstIssue } from "../issues.ts";
import type { RecursionGuard } from "../recursion.ts";
import { demand } from "./service.ts";
import type { ServiceGroup } from "./service.ts";

export type SessionPatch = z.input<typeof sessionPatchParams>;
export type SessionEntry = Record<string, unknown>;

/** What the gateway can do with sessions. Refusing is throwing. */
export interface SessionGateway {
  getSession?(key: string): Promise<SessionEntry | undefined>;
  /** Applies the patch and gives the updated entry; must not emit `session:patch` itself. */
  patchSession?(
    patch: SessionPatch,
    by: { readonly plugin?: string },
  ): Promise<{ readonly sessionEntry: SessionEntry; readonly cfg?: Record<string, unknown> }>;
}

export interface SessionOptions {
  readonly gateway: SessionGateway;
  readonly causes: Causes;
  readonly guard: RecursionGuard;
  emit(hook: "session:patch", event: object): void;
}

const getArgs = z.object({ key: z.string().min(1).max(1024) });

export class Sessions {
  readonly #options: SessionOptions;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  async get(args: unknown): Promise<SessionEntry | null> {
    const { gateway } = this.#options;
    if (!gateway.getSession) throw new CreelError("ERR_SERVICE_ABSENT", { service: "session.get" });
    const { key } = checked(getArgs, args, "session.get");
    return (await gateway.getSession(key)) ?? null;
  }

  /** A plugin's patch: the guard looks at it first. */
  async patchBy(plugin: string, args: unknown, chain: Chain): Promise<SessionEntry> {
    const patch = checked(sessionPatchParams, args, "session.patch");
    this.#options.guard.check(plugin, patch.key, chain);
    return this.#options.causes.within(chain, () => this.patch(patch, { plugin }));
  }

  async patch(patch: SessionPatch, by: { readonly plugin?: string } = {}): Promise<SessionEntry> {
    const { gateway } = this.#options;
    if (!gateway.patchSession) throw new CreelError("ERR_SERVICE_ABSENT", { service: "session.patch" });
    const { sessionEntry, cfg } = await gateway.patchSession(patch, by);
    this.#options.emit("session:patch", {
      type: "session",
      action: "patch",
      sessionKey: patch.key,
      timestamp: new Date(),
      messages: [],
      context: { sessionEntry, patch, ...(cfg && { cfg }) },
    });
    return sessionEntry;
  }
}

export function checked<T>(schema: z.ZodType<T>, args: unknown, service: string): T {
  const parsed = schema.safeParse(args);
  if (!parsed.success) throw new CreelError("ERR_SERVICE_ARGUMENT", { service, ...firstIssue(parsed.error) });
  return parsed.data;
}

export function sessionServices(sessions: Sessions, causes: Causes): ServiceGroup {
  return {
    services: {
      "session.get": {
        answer: ({ plugin, run, args }) => {
          demand(plugin.grants.session?.includes("get") === true, plugin, "session.get", 'session: ["get"]');
          return causes.within(causes.next(run, plugin.id), () => sessions.get(args));
        },
      },
      "session.patch": {
        answer: ({ plugin, run, args }) => {
          demand(plugin.grants.session?.includes("patch") === true, plugin, "session.patch", 'session: ["patch"]');
          return sessions.patchBy(plugin.id, args, causes.next(run, plugin.id));
        },
      },
    },
  };
}
