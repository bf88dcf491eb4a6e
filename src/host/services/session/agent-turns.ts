/**
 * Trusted side: what a plugin adds to an agent's work: context for the next turn of a session, and events of its own
 * beside the agent's. The gateway keeps turns and events, so each goes through a function of the gateway.
 */
import * as z from "zod";
import { CreelError } from "../../../protocol/errors.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import type { Causes } from "../../causality/causes.ts";
import { checked, demand } from "../service.ts";
import type { ServiceGroup } from "../service.ts";

const key = z.string().min(1).max(1024);
const turnInjection = z.object({
  sessionKey: key,
  agentId: z.string().max(LIMITS.call.nameChars).optional(),
  text: z.string().min(1).max(LIMITS.plugin.declarationChars),
  idempotencyKey: z.string().max(LIMITS.call.nameChars).optional(),
  placement: z.enum(["prepend_context", "append_context"]).optional(),
  ttlMs: z.number().positive().optional(),
  metadata: z.unknown().optional(),
});
export type TurnInjection = z.output<typeof turnInjection>;

const agentEmission = z.object({
  runId: z.string().min(1).max(LIMITS.call.nameChars),
  stream: z.string().min(1).max(LIMITS.call.nameChars),
  data: z.unknown().optional(),
  sessionKey: key.optional(),
});
export type AgentEmission = z.output<typeof agentEmission>;

/** What the gateway can do with turns and events of agents. It refuses by throwing. */
export interface AgentGateway {
  /** Adds the text to the next turn of the session. */
  enqueueInjection?(injection: TurnInjection, by: { readonly plugin: string }): Promise<InjectionAnswer> | InjectionAnswer;
  /** Tells an event to those that watch the agent. `by` goes along: a plugin does not speak for the agent. */
  emitAgentEvent?(event: AgentEmission, by: { readonly plugin: string }): void | Promise<void>;
}

export interface InjectionAnswer {
  readonly enqueued: boolean;
  readonly id?: string;
}

/** SECURITY: as hooks that change prompts or see conversations. test/contract/agent-events.test.ts */
export function agentServices(gateway: AgentGateway, causes: Causes): ServiceGroup {
  return {
    services: {
      "agent.inject": {
        permit: (plugin) =>
          demand(plugin.hooks?.allowPromptInjection !== false, plugin, "enqueueNextTurnInjection", "hooks: { allowPromptInjection: true }"),
        answer: ({ plugin, run, args }) =>
          causes.within(causes.next(run, plugin.id), async () => {
            if (!gateway.enqueueInjection) throw new CreelError("ERR_SERVICE_ABSENT", { service: "enqueueNextTurnInjection" });
            const injection = checked(turnInjection, args, "enqueueNextTurnInjection");
            const { enqueued, id = "" } = await gateway.enqueueInjection(injection, { plugin: plugin.id });
            return { enqueued, id, sessionKey: injection.sessionKey };
          }),
      },
      "agent.emit": {
        permit: (plugin) =>
          demand(plugin.hooks?.allowConversationAccess === true, plugin, "emitAgentEvent", "hooks: { allowConversationAccess: true }"),
        answer: ({ plugin, run, args }) =>
          causes.within(causes.next(run, plugin.id), async () => {
            if (!gateway.emitAgentEvent) throw new CreelError("ERR_SERVICE_ABSENT", { service: "emitAgentEvent" });
            await gateway.emitAgentEvent(checked(agentEmission, args, "emitAgentEvent"), { plugin: plugin.id });
            return null;
          }),
      },
    },
  };
}
