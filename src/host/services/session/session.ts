/**
 * Trusted side: sessions. Every patch goes through the gateway's own function. When that succeeds the host emits
 * `session:patch` and does not wait for its handlers.
 */
import * as z from "zod";
import { CreelError } from "../../../protocol/errors.ts";
import { sessionPatchParams } from "../../../protocol/hooks/session.ts";
import type { Chain, Causes } from "../../causality/causes.ts";
import type { RecursionGuard } from "../../causality/recursion.ts";
import { checked, demand } from "../service.ts";
import type { ServiceGroup } from "../service.ts";
import type { AgentGateway } from "./agent-turns.ts";

export type SessionPatch = z.input<typeof sessionPatchParams>;
export type SessionEntry = Record<string, unknown>;

/** What the gateway can do with sessions. It refuses by throwing. */
export interface SessionGateway extends AgentGateway {
  getSession?(key: string): Promise<SessionEntry | undefined> | SessionEntry | undefined;
  /**
   * Applies the patch and returns the updated entry. The host then emits `session:patch`, unless the gateway does so
   * itself and returns `emitted: true`. Such a gateway carries `host.causeToken()` along and emits within
   * `host.rejoin`, so that loops are found.
   */
  patchSession?(patch: SessionPatch, by: { readonly plugin?: string }): Promise<PatchedSession> | PatchedSession;
}

export interface PatchedSession {
  readonly sessionEntry: SessionEntry;
  readonly cfg?: Record<string, unknown>;
  readonly emitted?: boolean;
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

  /** A plugin's patch: the recursion guard checks it first. */
  async patchBy(plugin: string, args: unknown, chain: Chain): Promise<SessionEntry> {
    const patch = checked(sessionPatchParams, args, "session.patch");
    this.#options.guard.check(plugin, patch.key, chain);
    return this.#options.causes.within(chain, () => this.patch(patch, { plugin }));
  }

  async patch(patch: SessionPatch, by: { readonly plugin?: string } = {}): Promise<SessionEntry> {
    const { gateway } = this.#options;
    if (!gateway.patchSession) throw new CreelError("ERR_SERVICE_ABSENT", { service: "session.patch" });
    const { sessionEntry, cfg, emitted } = await gateway.patchSession(patch, by);
    if (emitted === true) return sessionEntry;
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

export function sessionServices(sessions: Sessions, causes: Causes): ServiceGroup {
  return {
    services: {
      "session.get": {
        permit: (plugin) => demand(plugin.grants.session?.includes("get") === true, plugin, "session.get", 'session: ["get"]'),
        answer: ({ plugin, run, args }) => causes.within(causes.next(run, plugin.id), () => sessions.get(args)),
      },
      "session.patch": {
        permit: (plugin) => demand(plugin.grants.session?.includes("patch") === true, plugin, "session.patch", 'session: ["patch"]'),
        answer: ({ plugin, run, args }) => sessions.patchBy(plugin.id, args, causes.next(run, plugin.id)),
      },
    },
  };
}
