/** What a plugin declares while it registers, as it comes out of its cell: hostile until it has passed this schema. */
import * as z from "zod";
import { LIMITS } from "../limits.ts";

const name = z.string().min(1).max(LIMITS.call.nameChars);

/** An empty list would match nothing, which no author means. */
const names = z.array(name).min(1).max(256);

export const handlerOptions = z.looseObject({
  priority: z.number().optional(),
  timeoutMs: z.number().positive().optional(),
  cpuMs: z.number().positive().optional(),
  registrationId: name.optional(),
  matcher: names.optional(),
  eligibleTriggers: names.optional(),
  eligibleDispatchKinds: names.optional(),
  /** For turn hooks: only for these agents. */
  agentIds: names.optional(),
  requiresToolAuthority: z.boolean().optional(),
  /** For session:patch: also call the handler for the plugin's own patches. */
  reentrant: z.boolean().optional(),
  /** For observe hooks: the plugin asks for events that are kept until it has them. The operator decides. */
  durable: z.boolean().optional(),
});
export type HandlerOptions = z.infer<typeof handlerOptions>;

/**
 * A member of `api` that does not exist, and what the plugin got instead: a function that does nothing, or undefined.
 */
export const unknownMember = z.object({ member: name, as: z.enum(["inert", "absent"]) });
export type UnknownMember = z.infer<typeof unknownMember>;

export const registration = z.object({
  id: name.optional(),
  name: z.string().max(LIMITS.call.nameChars).optional(),
  version: z.string().max(64).optional(),
  /** In registration order; the position is the handler's number. */
  handlers: z
    .array(
      z.object({
        /** A hook, or the kind of a function. */
        hook: name,
        options: handlerOptions,
        /** Set for functions, see messages/functions.ts. `about` is checked where the function is registered. */
        function: z.object({ name, about: z.unknown() }).optional(),
      }),
    )
    .max(LIMITS.plugin.handlers),
  /** Members of `api` that it looked for and that do not exist. */
  unknownMembers: z.array(unknownMember).max(LIMITS.plugin.unknownMembers).optional(),
});
export type Registration = z.infer<typeof registration>;
